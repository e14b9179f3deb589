package plan

import "time"

// Assumptions about this system on AWS. A guess has not been measured there: replace it with the first sale's figures.
const (
	// Guess: a call of the function buy or shop on a warm instance. The handler itself takes 0.01 ms, the rest is
	// Redis and SQS.
	callSeconds = 0.020
	// Guess: a call that starts an instance. The process itself is ready after 13 to 22 ms (docs/PERFORMANCE.md).
	coldSeconds = 0.4
	// Guess: a sign-in. The issuer's answer to a code is nearly all of it.
	signinSeconds = 0.25
	// Guesses: a change alone in tell, and in deliver, whose endpoint's answer is nearly all of it.
	tellSeconds = 0.05
	postSeconds = 0.25
	memoryGB    = 0.5  // MemorySize of template.yaml
	batchSize   = 10.0 // BatchSize of template.yaml; consume handles a batch's messages concurrently
	batchTime   = 0.1  // guess, s: a transaction, a script, a message, and Lambda's own polling

	// Cost of scripts on ElastiCache Serverless, where a plain GET costs 1. On one machine, redis-server ran 62,000 to
	// 72,000 GETs and 26,000 reservations per second at 64 connections (November 2026): a ratio of about 3, taken as 5.
	// Confirming a reservation costs less, taken as 3.
	reserveECPU = 5.0
	confirmECPU = 3.0
	levelECPU   = 2.0 // guess: an item's stock for the lists, or a look at a queued order

	// An instance of shop reads one of catalogCopies rows at random once a second, half a unit each. It reads the lists
	// themselves at start and after a change, up to catalogKB for each item.
	catalogCopies = 8
	catalogKB     = 1.0

	// Ticks until a shopper who got 429 or 503 retries: Retry-After, 1 s, plus up to a fifth (web/src/core.js).
	retryLeast = 100
	retryMost  = 120
	giveUp     = 120 * time.Second
	pollEvery  = 2.0 // s between a page's looks at an unpaid order (web/src/core.js)

	// Guess: CloudFront's locations that a country's shoppers meet, each with its own copy of an answer for each
	// language.
	locations = 40.0
	languages = 2.0

	kilobytesOut  = 1.5 // per answer with its headers
	kilobytesPage = 31  // the page and its files as sent, at a first look (web/browsertest/run.mjs)
	kilobytesLog  = 0.7 // per call: access log 0.3, Lambda's own lines 0.4
	queueCalls    = 10  // to SQS per order: send, receive and delete in batches, for the order and for its closing
)

// Bytes of the data set in Redis, measured at 10^3 to 10^6 units on redis-server 7.0 (November 2026) and rounded up.
// `make growth` fails when they are exceeded.
const (
	BytesInstalled = 500 // an item without sold units; units that were never issued take no memory
	BytesAwaiting  = 700 // a unit of an order on its way to the ledger, the whole request included
	BytesConfirmed = 480 // a unit of an order in the ledger
	BytesReturned  = 440 // a returned unit
)
