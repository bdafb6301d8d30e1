// A client that asks for one thing over and over, in a thread of its own: what it reads must not delay whom it is measured beside.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Task {
  readonly url: string
  readonly token: string
  readonly atOnce: number
  /** A resource that is posted; absent: a GET. */
  readonly body?: string
}

/** Asks `atOnce` times at a time until it is stopped. @returns a function that stops it and gives the number of replies by status */
export function askOverAndOver(task: Task): () => Promise<Map<number, number>> {
  const thread = new Worker(new URL(import.meta.url), { workerData: task })
  return () =>
    new Promise((done, fail) => {
      thread.once('message', done).once('error', fail)
      thread.postMessage('stop')
    })
}

if (!isMainThread) {
  const { url, token, atOnce, body } = workerData as Task
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/fhir+json',
    prefer: 'return=minimal',
  }
  const request = body === undefined ? { headers } : { method: 'POST', headers, body }
  const statuses = new Map<number, number>()
  let isDone = false
  const ask = async (): Promise<void> => {
    while (!isDone) {
      const reply = await fetch(url, request).catch(() => undefined)
      await reply?.arrayBuffer()
      const status = reply?.status ?? 0
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  const asking = Promise.all(Array.from({ length: atOnce }, ask))
  parentPort!.once('message', () => {
    isDone = true
    asking.then(() => parentPort!.postMessage(statuses))
  })
}
