// Receivers of webhooks, in a process of their own: ports on loopback that count what comes, and hang or fail when they are told to.
// They do not verify signatures: what that costs a receiver is not ours to measure.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arrival, Behaviour, Heard, Tally } from './webhooks-inbox.ts'

let behaviour: Behaviour = { hanging: [], failing: 0, keeps: 'numbers' }
let counts: number[] = []
let last = 0
let arrivals: Arrival[] = []
let tallies = new Map<string, Tally>()

const now = (): number => performance.timeOrigin + performance.now()

const handlers: Readonly<Record<Behaviour['keeps'], (place: number, request: IncomingMessage, body: string) => void>> =
  {
    numbers: () => {},
    arrivals: (place, _, body) => {
      const [, subject = ''] = /"encounter_id":"([^"]+)"/.exec(body) ?? []
      arrivals.push({ place, subject, at: last })
    },
    tallies: (place, request) => {
      tallyOf(place, request).received++
    },
  }

function tallyOf(place: number, { headers }: IncomingMessage): Tally {
  const event = String(headers['webhook-id'])
  const name = `${place} ${event}`
  const tally = tallies.get(name) ?? { place, event, received: 0, accepted: 0 }
  tallies.set(name, tally)
  return tally
}

function receive(place: number, request: IncomingMessage, response: ServerResponse): void {
  last = now()
  const { keeps, hanging, failing } = behaviour
  let body = ''
  request.setEncoding('utf8').on('data', chunk => (body += chunk))
  request.on('end', () => {
    counts[place] = (counts[place] ?? 0) + 1
    handlers[keeps](place, request, body)
    const status = failing > 0 && Math.random() < failing ? 500 : 200
    const answer = (): void => {
      if (keeps === 'tallies' && status === 200) tallyOf(place, request).accepted++
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"received":true}')
    }
    if (hanging.includes(place)) setTimeout(answer, 10_000)
    else answer()
  })
}

function open(place: number): Promise<string> {
  const server = createServer((request, response) => receive(place, request, response))
  server.keepAliveTimeout = 65_000
  return new Promise(done => {
    server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`))
  })
}

process.on('message', (asked: Behaviour | 'numbers' | 'everything') => {
  if (typeof asked === 'object') {
    ;[behaviour, counts, last, arrivals, tallies] = [asked, [], 0, [], new Map()]
    process.send!('ready')
    return
  }
  const all = asked === 'everything'
  const told: Heard = { counts, last, arrivals: all ? arrivals : [], tallies: all ? [...tallies.values()] : [] }
  process.send!(told)
})
process.on('disconnect', () => process.exit(0))

process.send!(await Promise.all(Array.from({ length: Number(process.env['PLACES']) }, (_, place) => open(place))))
