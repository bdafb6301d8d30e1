// npm run bench -- messages: what becomes of published HL7 v2 messages, and how many a second.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageProblem } from '../../src/hl7v2/problem.ts'
import { textOf } from '../../src/hl7v2/problem.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { readFolder } from '../../src/mapping/files.ts'
import { messageProblem, type TranslatedMessage, translateMessage } from '../../src/mapping/messages.ts'
import { mappingSet } from '../../src/mapping/set.ts'
import { shapes } from '../../src/shapes/all.ts'
import { sharedData } from '../support/data.ts'

interface Refused {
  readonly type: string
  readonly problem: MessageProblem
}

export interface Outcome {
  readonly accepted: readonly TranslatedMessage[]
  readonly refused: readonly Refused[]
}

/** The published messages as texts; none where they are not on this machine. */
export function publishedMessages(): string[] {
  const folder = sharedData('hl7v2')
  if (!folder) return []
  return ['simhospital.hl7', 'converter-tests.hl7'].flatMap(name =>
    readFileSync(join(folder, name), 'utf8')
      .split(/\n\s*\n/)
      .filter(each => each.trim() !== ''),
  )
}

const context = {
  base_url: 'https://interop.example',
  received_at: '2026-03-14T10:42:07+01:00',
  namespace: 'https://interop.example/fhir/NamingSystem/facility/one',
}

/** Translates messages by the maps of the project. */
export async function translateAll(messages: readonly string[]): Promise<Outcome> {
  const set = mappingSet(await readFolder(join(import.meta.dirname, '../../mappings')), { shapes })
  return outcomeOf(messages, text => translateMessage({ set: () => set }, text, context))
}

function outcomeOf(messages: readonly string[], translate: (text: string) => TranslatedMessage): Outcome {
  const accepted: TranslatedMessage[] = []
  const refused: Refused[] = []
  for (const text of messages) {
    try {
      accepted.push(translate(text))
    } catch (error) {
      const problem = messageProblem(error)
      if (!problem) throw error
      refused.push({ type: text.split('|')[8] ?? '', problem })
    }
  }
  return { accepted, refused }
}

/** Messages a second of CPU: the median of seven rounds, after two that are not counted. */
async function rateOf(messages: readonly string[]): Promise<number> {
  const set = mappingSet(await readFolder(join(import.meta.dirname, '../../mappings')), { shapes })
  const rounds = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage()
    outcomeOf(messages, text => translateMessage({ set: () => set }, text, context))
    const { user, system } = process.cpuUsage(before)
    return (messages.length / (user + system)) * 1e6
  })
  return Math.round(rounds.slice(2).sort((a, b) => a - b)[3]!)
}

const counted = (names: readonly string[]): [string, number][] =>
  [...Map.groupBy(names, each => each)]
    .map(([name, all]): [string, number] => [name, all.length])
    .sort((a, b) => b[1] - a[1])

const table = (title: string, rows: readonly [string, number][]): string =>
  [`\n${title}`, ...rows.map(([name, count]) => `${String(count).padStart(7)}  ${name}`)].join('\n')

/** Prints the tables. */
export async function measureMessages(): Promise<void> {
  const messages = publishedMessages()
  if (messages.length === 0)
    return console.log('There are no published messages on this machine (../shared/data/hl7v2).')
  const { accepted, refused } = await translateAll(messages)
  const rate = await rateOf(messages)
  const resources = accepted.flatMap(({ bundle }) =>
    (bundle['entry'] as JsonObject[]).map(({ resource }) => String((resource as JsonObject)['resourceType'])),
  )
  const warnings = accepted.flatMap(each => each.warnings.map(problem => textOf({ ...problem, occurrence: 1 })))
  console.log(`${messages.length} messages: ${accepted.length} accepted, ${refused.length} refused`)
  console.log(`${rate} messages a second of CPU, of one process`)
  console.log(table('accepted', counted(accepted.map(({ message }) => message))))
  console.log(table('refused', counted(refused.map(({ type, problem }) => `${type} ${textOf(problem)}`))))
  console.log(table('resources', counted(resources)))
  console.log(table('warnings', counted(warnings)))
}
