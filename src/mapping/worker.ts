// The thread in which maps of requests are run; what it says first is that it is ready.

import { parentPort } from 'node:worker_threads'
import { type Job, runJob } from './job.ts'

parentPort?.on('message', (job: Job) => parentPort?.postMessage(runJob(job)))
parentPort?.postMessage('ready')
