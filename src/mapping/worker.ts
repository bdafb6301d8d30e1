// A thread that reads and runs maps of requests; its first message reports that it is ready.

import { parentPort } from 'node:worker_threads'
import type { SourceFile } from './files.ts'
import { type Job, runJob } from './job.ts'
import { studyOf } from './study.ts'

/** A task for a thread: to run a map, or to list the static facts of maps. */
export type Task = { readonly job: Job } | { readonly files: readonly SourceFile[] }

parentPort?.on('message', (task: Task) =>
  parentPort?.postMessage('job' in task ? runJob(task.job) : task.files.map(studyOf)),
)
parentPort?.postMessage('ready')
