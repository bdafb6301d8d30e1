// A thread that reads and runs maps of requests; its first message reports that it is ready.

import { parentPort } from 'node:worker_threads'
import type { SourceFile } from './files.ts'
import { type Job, runJob } from './job.ts'
import { studyOf } from './study.ts'
import type { DeskTask } from './workbench/asks.ts'

/** A task for a thread: to run a map, to list the static facts of maps, or to answer the workbench. */
export type Task = { readonly job: Job } | { readonly files: readonly SourceFile[] } | { readonly desk: DeskTask }

async function done(task: Task): Promise<unknown> {
  if ('job' in task) return runJob(task.job)
  if ('files' in task) return task.files.map(studyOf)
  // Few threads ever work for the workbench, which needs much more code than a job.
  const { answerAsk } = await import('./workbench/answer.ts')
  return answerAsk(task.desk)
}

parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await done(task)))
parentPort?.postMessage('ready')
