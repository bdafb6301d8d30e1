// The settings of the sample receiver, from its command line and the environment.
import { demoClient } from '../../identity/demo-accounts.ts'
import { type Options, readArguments, UsageError } from '../../lib/command.ts'

export interface Settings {
  /** 0 takes a free one. */
  readonly port: number
  /** Undefined: it subscribes by itself. */
  readonly secret: string | undefined
  readonly service: string
  readonly clientId: string
  readonly clientSecret: string
  /** Undefined: all types. */
  readonly events: readonly string[] | undefined
  /** Share of deliveries that are answered with 500, from 0 to 1. */
  readonly failing: number
  /** Milliseconds before each answer. */
  readonly delay: number
  readonly isJson: boolean
  readonly isHelp: boolean
}

export const help = `Usage: npm run receiver -- [OPTION…]

A webhook receiver for testing: it verifies the signature of each event over the raw body, responds with
{"received":true} and prints the event. It listens on this machine only, subscribes to the service
automatically, and deletes its subscription on Ctrl-C.

  --port N              the port to listen on (default 9000; 0 takes a free port)
  --secret whsec_…      verify with the secret of an existing subscription, without subscribing;
                        also WEBHOOK_SECRET
  --service URL         the service to subscribe to (default http://localhost:8080)
  --client-id ID        the client to subscribe as, and its secret; also CLIENT_ID and CLIENT_SECRET
  --client-secret TEXT  (default: the demo client of a local service)
  --events A,B          the event types to subscribe to (default: all)
  --fail 5%             respond with 500 to this share of the deliveries, to test retries
  --delay 2s            wait before each response (500ms, 2s)
  --json                print one line of JSON for each event
  --help                show this help

Exit code: 0 after Ctrl-C, 1 if it cannot listen or subscribe, 2 for wrong arguments.
`

/** @throws UsageError */
export function readSettings(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Settings {
  const given = readArguments(options, args)
  if (given.positionals.length > 0) throw new UsageError(`unexpected argument ${given.positionals.join(' ')}`)
  return {
    port: port(given.text('port') ?? '9000'),
    secret: given.text('secret') ?? (env['WEBHOOK_SECRET'] || undefined),
    service: service(given.text('service') ?? 'http://localhost:8080'),
    clientId: given.text('client-id') ?? (env['CLIENT_ID'] || demoClient.id),
    clientSecret: given.text('client-secret') ?? (env['CLIENT_SECRET'] || demoClient.secret),
    events: given
      .text('events')
      ?.split(',')
      .map(each => each.trim()),
    failing: share(given.text('fail') ?? '0%'),
    delay: milliseconds(given.text('delay') ?? '0s'),
    isJson: given.isSet('json'),
    isHelp: given.isSet('help'),
  }
}

const text = { value: 'VALUE', meaning: '' }

/** What they mean stands in `help`. */
const options: Options = {
  port: text,
  secret: text,
  service: text,
  'client-id': text,
  'client-secret': text,
  events: text,
  fail: text,
  delay: text,
}

function port(given: string): number {
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given)
  throw new UsageError(`--port must be a number from 0 to 65535, not ${given}`)
}

function service(given: string): string {
  if (/^https?:\/\//.test(given) && URL.canParse(given)) return given.replace(/\/+$/, '')
  throw new UsageError(`--service must be the URL of the service, such as http://localhost:8080, not ${given}`)
}

function share(given: string): number {
  const [, percent] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given) ?? []
  if (percent !== undefined && Number(percent) <= 100) return Number(percent) / 100
  throw new UsageError(`--fail must be a percentage such as 5%, not ${given}`)
}

function milliseconds(given: string): number {
  const [, number, unit] = /^(\d{1,6}(?:\.\d+)?)(ms|s)$/.exec(given) ?? []
  if (number !== undefined) return Number(number) * (unit === 's' ? 1000 : 1)
  throw new UsageError(`--delay must be a duration such as 500ms or 2s, not ${given}`)
}
