// A Task for manual review: it states which patients may be one, and why (https://hl7.org/fhir/R4/task.html). It names
// levels of agreement, never the names of a person.

import { isObject, type JsonObject, objectsIn } from '../../lib/json.ts'
import { reviewSystem } from '../../store/index/subject.ts'
import type { Ranked } from '../matching/decide.ts'
import { explain } from '../matching/score.ts'

const ours = 'https://health-interop.org/fhir'

/** The code of these Tasks. */
export const possibleDuplicate = { system: reviewSystem, code: 'possible-duplicate' }

const matchGrade = 'http://hl7.org/fhir/StructureDefinition/match-grade'

const part = (code: string, text?: string): JsonObject => ({
  coding: [{ system: possibleDuplicate.system, code }],
  ...(text === undefined ? {} : { text }),
})

/** The Task about a patient who may be one of others. */
export function reviewTask(patient: string, others: readonly Ranked[], now: Date): JsonObject {
  const about = { reference: `Patient/${patient}` }
  return {
    resourceType: 'Task',
    status: 'requested',
    intent: 'order',
    code: { coding: [{ ...possibleDuplicate, display: 'Possible duplicate' }] },
    description:
      'This patient may be registered already. Compare both; if they are one person, merge them (Patient/$merge).',
    focus: about,
    for: about,
    authoredOn: now.toISOString(),
    input: others.map(inputOf),
  }
}

/** Of a person of whom the sender knows a number only. */
const nothingToCompare = 'Nothing that can be compared'

function inputOf(candidate: Ranked): JsonObject {
  const { id, grade, score } = candidate
  return {
    extension: [
      { url: matchGrade, valueCode: grade },
      { url: `${ours}/StructureDefinition/match-score`, valueDecimal: shownScore(candidate) },
      ...score.parts.map(({ field, level, bits }) => ({
        url: `${ours}/StructureDefinition/match-field`,
        extension: [
          { url: 'field', valueCode: field },
          { url: 'level', valueCode: level },
          { url: 'bits', valueDecimal: Number(bits.toFixed(2)) },
        ],
      })),
    ],
    type: part('candidate', explain(score).join('; ') || nothingToCompare),
    valueReference: { reference: `Patient/${id}` },
  }
}

/** Where something speaks against a match, it is doubtful, however much else agrees: twins. */
const DOUBTFUL = 0.5

/** How probable it is, as it is shown. */
export function shownScore({ probability, score }: Ranked): number {
  return Number((score.isBlocked ? Math.min(probability, DOUBTFUL) : probability).toFixed(4))
}

/** Returns the ids of the patients that a review Task compares: its subject, and the candidates. */
export function comparedIn(task: JsonObject): {
  readonly focus: string | undefined
  readonly candidates: readonly string[]
} {
  return {
    focus: patientIn(task['focus']),
    candidates: objectsIn(task['input']).flatMap(({ valueReference }) => patientIn(valueReference) ?? []),
  }
}

/** Returns the same Task, completed: its patients are merged now. */
export function reviewed(task: JsonObject, survivor: string): JsonObject {
  const output = { type: part('merged-into'), valueReference: { reference: `Patient/${survivor}` } }
  return { ...task, status: 'completed', output: [...objectsIn(task['output']), output] }
}

function patientIn(reference: unknown): string | undefined {
  const text = isObject(reference) ? reference['reference'] : undefined
  return typeof text === 'string' && text.startsWith('Patient/') ? text.slice('Patient/'.length) : undefined
}
