// agent quarantine list, show, retry, drop: what was refused, why, and what is to become of it.

import { UsageError } from '../../../src/lib/command.ts'
import { systemClock } from '../clock.ts'
import {
  dropQuarantine,
  listQuarantine,
  type Quarantined,
  retryQuarantine,
  showQuarantined,
} from '../state/quarantine.ts'
import { withState } from './open.ts'
import type { AgentCommand, Call } from './tool.ts'

const all = { all: { meaning: 'every item of the quarantine' } } as const

export const quarantineCommands: readonly AgentCommand[] = [
  {
    name: 'quarantine list',
    usage: '',
    summary: 'List what was refused, the oldest first, with the reason’s code',
    details: 'Contains no patients’ data. At most 1000 items.',
    options: {},
    run: ({ file }) =>
      withState(file, state => {
        const items = listQuarantine(state)
        return { isGood: true, text: items.map(lineOf).join('') || 'Nothing is in quarantine.\n', json: items }
      }),
  },
  {
    name: 'quarantine show',
    usage: 'ITEM_ID',
    summary: 'Show one item with its reason and what it holds',
    details: 'Prints patients’ data.',
    options: {},
    run: ({ file, given }) =>
      withState(file, state => {
        const item = showQuarantined(state, oneOf(given.positionals))
        if (!item) return { isGood: false, text: 'There is no such item.\n', json: null }
        return { isGood: true, text: `${lineOf(item)}${item.message}\n${contentOf(item.payload)}\n`, json: item }
      }),
  },
  {
    name: 'quarantine retry',
    usage: '[ITEM_ID…]',
    summary: 'Put items back at the end of the queue, to be tried afresh',
    details: 'A running agent sends them within five seconds.',
    options: all,
    run: call => change(call, 'queued again', (state, ids) => retryQuarantine(state, ids, systemClock.now())),
  },
  {
    name: 'quarantine drop',
    usage: '[ITEM_ID…]',
    summary: 'Delete items for good',
    details: 'What is dropped is lost: the server never gets it.',
    options: all,
    run: call => change(call, 'dropped', dropQuarantine),
  },
]

type Change = (state: Parameters<typeof dropQuarantine>[0], ids: readonly string[] | undefined) => number

/** Changes the named items, or all; good only if each of those named was there. */
async function change({ file, given }: Call, word: string, work: Change) {
  const ids = given.isSet('all') ? undefined : given.positionals
  if (ids?.length === 0) throw new UsageError('name items, or --all')
  return withState(file, state => {
    const count = work(state, ids)
    const isGood = ids === undefined || count === ids.length
    return { isGood, text: `${count} items ${word}.\n`, json: { count } }
  })
}

function oneOf(positionals: readonly string[]): string {
  if (positionals.length !== 1) throw new UsageError('name one item')
  return positionals[0]!
}

const lineOf = ({ item_id, quarantined_at, source, type, origin, code, field }: Quarantined): string =>
  `${[item_id, quarantined_at, source, type, origin, code, field ?? ''].join('  ').trimEnd()}\n`

/** A message of HL7 v2 line by line, anything else as JSON. */
function contentOf(payload: unknown): string {
  const { message } = payload as { message?: unknown }
  return typeof message === 'string' ? message.replaceAll('\r', '\n') : JSON.stringify(payload, null, 2)
}
