/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that works on one block after the other while its owner fills the next. The owner has two blocks
 * and gives them in turn:
 *
 *	worker = worker_new(measure, context);
 *	worker_give(worker, block[0]); ... fill block[1] ... worker_give(worker, block[1]); ... fill block[0]
 *	worker_finish(worker);
 *
 * Where no thread is to be had, worker_give() does the work itself.
 */
#ifndef BASE_WORKER_H
#define BASE_WORKER_H

typedef void worker_run(void *context, void *block);

struct worker;

/* NULL without memory. */
struct worker *worker_new(worker_run *run, void *context);

/* Waits until the block before this one is done (and may be filled again), then hands this one over. */
void worker_give(struct worker *worker, void *block);

/* Waits until all is done, and ends the thread; NULL is allowed. What the worker wrote may be read then. */
void worker_finish(struct worker *worker);

#endif
