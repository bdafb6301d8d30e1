// npm run map -- test: runs the examples of maps, and takes them there and back where maps lead both ways.

import type { CommandResult } from '../../lib/command.ts'
import type { Example } from '../../mapping/examples.ts'
import type { Mapping } from '../../mapping/mapping.ts'
import { opposite, type RoundTrip, roundTrip } from '../../mapping/round-trip.ts'
import { isWarning } from '../../mapping/set.ts'
import { findings, isPassed, type Trial, tryExample } from '../../mapping/trial.ts'
import type { MapCall, MapCommand } from './command.ts'
import { counted, listed, openWorkspace, paragraph, rendered, type Workspace } from './workspace.ts'

export const test: MapCommand = {
  name: 'test',
  usage: '[FILE…]',
  summary: 'Run the examples of all maps, or of the named ones',
  details: [
    'The examples of a map are in NAME.examples.json in the same folder: [{ "name": "…", "from": {…}, "context": {…}, "to": {…} }].',
    'The result must equal `to` and be a valid resource or record. For maps in both directions',
    '(NAME-to-fhir and NAME-from-fhir), the output lists what a round trip loses; this is not a failure.',
  ].join('\n'),
  options: {},
  run,
}

interface Result {
  readonly map: string
  readonly trials: readonly Trial[]
}

async function run(call: MapCall): Promise<CommandResult> {
  const { createInspect } = await import('../../mapping/validity.ts')
  // All of them run, and compiling them together takes less than each when it runs.
  const workspace = await openWorkspace({ ...call, verdicts: undefined })
  const { files, chosen, problems, examples } = workspace
  const inspect = createInspect(call.shapes)
  const runnable = chosen.filter(each => each.program)
  const results = runnable.map(({ name, program }): Result => {
    const trials = (examples.get(name) ?? []).map(each => tryExample(program!, each, inspect))
    return { map: name, trials }
  })
  const trips = runnable.flatMap(each => tripOf(each, workspace))
  const errors = problems.filter(each => !isWarning(each))
  const failed = results.flatMap(({ trials }) => trials).filter(each => !isPassed(each)).length
  const total = results.reduce((sum, { trials }) => sum + trials.length, 0)
  const summary = `${counted(chosen.length, 'map')}, ${counted(total, 'example')}, ${failed === 0 ? 'none' : failed} failed`
  return {
    isGood: errors.length === 0 && failed === 0,
    text: [rendered(errors, files), ...results.map(resultText), tripsText(trips), summary, '\n'].join(''),
    json: { problems: listed(errors), maps: results.map(resultJson), roundTrips: trips.map(tripJson) },
  }
}

function tripOf(there: Mapping, { set, examples }: Workspace): RoundTrip[] {
  const back = set.mappings.get(opposite(there.name) ?? '')
  const own: readonly Example[] = examples.get(there.name) ?? []
  if (!back?.program || own.length === 0) return []
  const spare = examples.get(back.name)?.find(each => each.context)?.context
  return [roundTrip(there, back, own, spare)]
}

function resultText({ map, trials }: Result): string {
  if (trials.length === 0) return `${map}: no examples\n`
  const passed = trials.filter(isPassed).length
  const failures = trials.filter(each => !isPassed(each)).map(failureText)
  const end = failures.length > 0 ? '\n' : ''
  return `${map}: ${passed} of ${counted(trials.length, 'example')}\n${failures.join('')}${end}`
}

function failureText(trial: Trial): string {
  const { name, file, line } = trial.example
  return [`\n  ${name} (${file}:${line})`, ...findings(trial).map(each => `\n    ${each}`), '\n'].join('')
}

function resultJson({ map, trials }: Result): unknown {
  return {
    map,
    examples: trials.map(trial => {
      const { name, file, line } = trial.example
      const { differences, invalid, error } = trial
      return { name, file, line, passed: isPassed(trial), error: error?.message, differences, invalid }
    }),
  }
}

function tripsText(trips: readonly RoundTrip[]): string {
  return trips.length === 0 ? '' : `\nround trips\n${trips.map(tripText).join('')}\n`
}

function tripText({ there, back, examples, lost, changed, added, errors }: RoundTrip): string {
  const kinds = Object.entries({ loses: lost, changes: changed, adds: added }).filter(([, counts]) => counts.size > 0)
  const title = `  ${there} > ${back} (${counted(examples, 'example')})`
  if (kinds.length === 0 && errors.length === 0) return `${title}: lossless\n`
  const parts = kinds.map(([verb, counts]) => paragraph(verb, [...counts.keys()], '    '))
  return `${title}\n${parts.join('')}${errors.map(each => `    does not come back: ${each}\n`).join('')}`
}

function tripJson({ lost, changed, added, ...trip }: RoundTrip): unknown {
  const [losses, changes, additions] = [lost, changed, added].map(each => Object.fromEntries(each))
  return { ...trip, lost: losses, changed: changes, added: additions }
}
