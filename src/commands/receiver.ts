// npm run receiver: a receiver of webhooks that verifies what comes and prints it, for trying them out.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../lib/command.ts'
import { listener } from './receiver/receive.ts'
import { help, readSettings, type Settings } from './receiver/settings.ts'
import { show } from './receiver/show.ts'
import { ServiceError, type Subscription, subscribe, unsubscribe } from './receiver/subscription.ts'

async function main(): Promise<number> {
  const settings = readSettings(process.argv.slice(2), process.env)
  if (settings.isHelp) return print(help, 0)
  let { secret } = settings
  const { isJson, failing, delay } = settings
  const received = listener({
    failing,
    delay,
    secret: () => secret,
    received: receipt => process.stdout.write(show(receipt, isJson)),
  })
  const stopping = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const server = createServer((request, reply) => void received(request, reply))
  const url = await listen(server, settings.port)
  try {
    const subscription = secret === undefined ? await subscribe(settings, url) : undefined
    secret ??= subscription?.secret
    note(
      `Listening on ${url}${subscription ? `, subscribed as ${subscription.id} to ${counted(subscription)}` : ''}. Stop with Ctrl-C.`,
    )
    await stopping
    if (subscription) await end(settings, subscription)
  } finally {
    server.close()
    server.closeAllConnections()
  }
  return 0
}

/** Begins to listen on this machine, and gives the URL to call. */
async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function end(settings: Settings, { id }: Subscription): Promise<void> {
  await unsubscribe(settings, id)
  note(`Unsubscribed ${id}.`)
}

const counted = ({ events }: Subscription): string =>
  events.length === 1 ? `${events[0]}` : `${events.length} event types`

/** On standard error, so that standard output holds events only. */
const note = (line: string): void => void process.stderr.write(`${line}\n`)

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

function explain(error: NodeJS.ErrnoException & { port?: number }): string {
  if (error instanceof UsageError) return `${error.message}\nSee npm run receiver -- --help.`
  if (error instanceof ServiceError) return error.message
  if (error.code === 'EADDRINUSE')
    return `Port ${error.port} is in use, perhaps by another receiver: choose another one with --port.`
  if (error.code === 'EACCES') return `Port ${error.port} may not be listened on: choose one above 1023 with --port.`
  return error.stack ?? String(error)
}

main().then(
  code => {
    process.exitCode = code
  },
  error => {
    note(explain(error))
    process.exitCode = error instanceof UsageError ? 2 : 1
  },
)
