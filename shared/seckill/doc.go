// Package seckill holds the nouns and rules of a flash sale (秒杀): item, unit, reservation, order, quota, payment; the
// order's state table; error codes; and the ports through which flows reach everything outside.
//
// It is the ground floor: it imports only the standard library and does no input or output. Flows (shared/flow)
// decide by these rules; drivers (shared/driver) implement these ports.
//
// No noun has a method Validate: a library calls one of that name through an interface, so the linker would keep those
// of all nouns in every function.
package seckill
