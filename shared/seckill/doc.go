// Package seckill holds the nouns and rules of a flash sale (秒杀): item, unit, reservation, order, quota,
// payment; the order's state table; error codes; and the ports through which flows reach the world.
//
// It is the ground floor: it imports the standard library only and does no input or output. Flows (shared/flow)
// decide by these rules; adapters (shared/adapter) implement these ports.
package seckill
