// A thread in which maps of requests are read and run; what it says first is that it is ready.

import { parentPort } from 'node:worker_threads'
import type { SourceFile } from './files.ts'
import { type Job, runJob } from './job.ts'
import { studyOf } from './study.ts'

/** What a thread is asked for: to run a map, or what maps say of themselves. */
export type Task = { readonly job: Job } | { readonly files: readonly SourceFile[] }

parentPort?.on('message', (task: Task) =>
  parentPort?.postMessage('job' in task ? runJob(task.job) : task.files.map(studyOf)),
)
parentPort?.postMessage('ready')
