// SPDX-License-Identifier: GPL-2.0-only
#include "base/worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
	worker_run *run;
	void *context;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void *block; /* NULL: idle */
	bool end;
};

static void *work(void *argument)
{
	struct worker *w = argument;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		void *block = w->block;

		if (block) {
			pthread_mutex_unlock(&w->lock);
			w->run(w->context, block);
			pthread_mutex_lock(&w->lock);
			w->block = NULL;
			pthread_cond_broadcast(&w->changed);
		} else if (w->end) {
			break;
		} else {
			pthread_cond_wait(&w->changed, &w->lock);
		}
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct worker *worker_new(worker_run *run, void *context)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->run = run;
	w->context = context;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->threaded = !pthread_create(&w->thread, NULL, work, w);
	return w;
}

void worker_give(struct worker *w, void *block)
{
	if (!w->threaded) {
		w->run(w->context, block);
		return;
	}
	pthread_mutex_lock(&w->lock);
	while (w->block)
		pthread_cond_wait(&w->changed, &w->lock);
	w->block = block;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void worker_finish(struct worker *w)
{
	if (!w)
		return;
	if (w->threaded) {
		pthread_mutex_lock(&w->lock);
		w->end = true;
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
