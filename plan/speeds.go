package plan

import "time"

// What is assumed of this system on AWS. A guess is called so: nobody has measured it there. Replace it by the first
// sale's figures.
const (
	// guess: a call of buy or shop that finds its instance warm; the handler itself takes 0.01 ms, the rest is Redis
	// and SQS
	callSeconds = 0.020
	// guess: a call that starts an instance; the process itself is ready after 13 to 22 ms (docs/PERFORMANCE.md)
	coldSeconds = 0.4
	memoryGB    = 0.5  // MemorySize of template.yaml
	batchSize   = 10.0 // BatchSize of template.yaml; consume handles a batch's messages at the same time
	batchTime   = 0.1  // guess, s: a transaction, a script, a message, and Lambda's own polling

	// reserveECPU is what a purchase costs on ElastiCache Serverless, where a plain GET costs 1: redis-server ran
	// 62,000 to 72,000 GETs a second and 26,000 reservations at 64 connections on one machine, November 2026; that is
	// about 3, taken as 5. Settling an order costs less, and is taken as 3.
	reserveECPU = 5.0
	confirmECPU = 3.0
	levelECPU   = 2.0 // guess: figures of an item, for lists; a look at a queued order is taken as much

	// catalogCopies are rows that instances of shop read one of, by chance, once a second: half a unit each. The lists
	// themselves are read at start and when they have changed, up to 1 KB for each item.
	catalogCopies = 8
	catalogKB     = 1.0

	retryLeast = 100 // ticks: a shopper who is told 429 or 503 comes back after Retry-After, 1 s,
	retryMost  = 120 // and up to a fifth (web/core.js)
	giveUp     = 120 * time.Second
	pollEvery  = 2.0 // s between looks of a page at an order to be paid (web/core.js)

	kilobytesOut = 1.5 // of an answer with its headers
	kilobytesLog = 0.7 // of a call: access log 0.3, Lambda's own lines 0.4
	queueCalls   = 10  // to SQS for one order: send, receive and delete in batches, the same for its closing
)

// Bytes in Redis, as the server counts its data set: measured at 10^3 to 10^6 units on redis-server 7.0, November 2026,
// and rounded up (make growth, whose test holds them).
const (
	BytesInstalled = 500 // an item whose units are all unsold: numbers that were never issued take no place
	BytesAwaiting  = 700 // a unit held by an order on its way to the ledger; the request is kept whole
	BytesConfirmed = 480 // a unit of an order in the ledger
	BytesReturned  = 440 // a unit that was given back
)
