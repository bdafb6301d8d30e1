// A process around the thread that reads and runs maps: what takes all memory in one step ends its process, and not the service.
// The thread does the work, so that the process hears that the service has ended also while a map never ends.

import { Worker } from 'node:worker_threads'

const [megabytes] = process.argv.slice(2).map(Number)
const thread = new Worker(new URL('./worker.ts', import.meta.url), {
  resourceLimits: { maxOldGenerationSizeMb: megabytes },
})

const end = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') process.exit(1)
  process.send?.(error, () => process.exit(1))
}

thread.on('message', answer => process.send?.(answer)).on('error', end)
// A signal to all processes of the service is for the service, which answers what it has begun.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.on('message', task => thread.postMessage(task)).on('disconnect', () => process.exit())
