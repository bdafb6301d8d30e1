// The fields of the editor of a map: what is in them at first, and what forms do with them.

import { Failure } from '../../../lib/failure.ts'
import { isObject, parseJson } from '../../../lib/json.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import { type Example, examplesIn } from '../../../mapping/examples.ts'
import type { SourceFile } from '../../../mapping/files.ts'
import type { Draft, Tried } from '../../../mapping/workbench/asks.ts'
import { withExample } from '../../../mapping/workbench/new-example.ts'
import { digestOf } from '../../../mapping/workbench/versions.ts'
import type { PageView } from '../page.ts'
import { filesOf, type WorkbenchPageParts } from './parts.ts'

/** A map of two million characters, its examples and an input, as a form sends them. */
export const maxFormBytes = 16 * 1024 * 1024

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

export const form = Type.Object(
  {
    text: Type.String({ maxLength: 2_100_000 }),
    examples: text(4_000_000),
    basis: text(64),
    examples_basis: text(64),
    input: text(2_000_000),
    context: text(100_000),
    run: text(120),
    example_name: text(200),
    may_fail: text(3),
    do: Type.String({ maxLength: 250 }),
  },
  { additionalProperties: false },
)

/** What is in the fields of the editor. */
export type Fields = Omit<Static<typeof form>, 'do'>

/** Browsers end the lines of a form with two characters. */
export function unfolded<Sent extends object>(fields: Sent): Sent {
  const entries = Object.entries(fields).map(([key, value]) => [
    key,
    typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : value,
  ])
  return Object.fromEntries(entries) as Sent
}

/** The fields as the files have them; the input is that of the first example. @throws Failure NOT_FOUND */
export function fieldsOf(map: string, files: readonly SourceFile[]): Fields {
  const { map: file, examples } = filesOf(map, files)
  if (!file) throw new Failure('NOT_FOUND', `There is no map ${map}.`)
  const fields = {
    text: file.text.replace(/\r\n?/g, '\n'),
    basis: digestOf(file.text),
    examples: examples?.text ?? '',
    examples_basis: examples ? digestOf(examples.text) : '',
  }
  const [first] = examplesOf(map, fields)
  return first ? loaded(map, fields, first.name) : fields
}

/** The drafts that the fields hold: the map, and its examples where there are any. */
export function draftsOf(map: string, { text, examples = '' }: Pick<Fields, 'text' | 'examples'>): Draft[] {
  const beside = { name: `${map}.examples.json`, text: examples }
  return [{ name: `${map}.fml`, text }, ...(examples.trim() === '' ? [] : [beside])]
}

function examplesOf(map: string, fields: Pick<Fields, 'text' | 'examples'>): readonly Example[] {
  const files = draftsOf(map, fields).map(each => ({ ...each, path: each.name }))
  return examplesIn(files).byMap.get(map) ?? []
}

/** The fields with the input of an example. */
export function loaded(map: string, fields: Fields, name: string): Fields {
  const example = examplesOf(map, fields).find(each => each.name === name)
  if (!example) return fields
  const { from, context } = example
  const input = Array.isArray(from) ? from.join('\n') : JSON.stringify(from, null, 2)
  return { ...fields, input, context: context ? JSON.stringify(context, null, 2) : '' }
}

/** What a try of these fields makes. @throws Failure as the workbench does */
export function tryOf(
  { workbench }: WorkbenchPageParts,
  client: string,
  map: string,
  { run, input = '', context = '', ...fields }: Fields,
): Promise<Tried> {
  const other = run === undefined || run === '' || run === map ? {} : { run }
  return workbench.ask(client, draftsOf(map, fields), { kind: 'try', input, context, ...other })
}

/** The fields with what came in and out as one more example. @throws Failure VALIDATION_FAILED */
export async function exampled(
  parts: WorkbenchPageParts,
  client: string,
  map: string,
  fields: Fields,
  { t }: PageView,
): Promise<Fields> {
  const { run: _, ...own } = fields
  const { output } = await tryOf(parts, client, map, own)
  const name = fields.example_name?.trim() ?? ''
  if (output === undefined) throw new Failure('VALIDATION_FAILED', t('maps.no_output'))
  if (name === '') throw new Failure('VALIDATION_FAILED', t('maps.example_unnamed'))
  if (examplesOf(map, fields).some(each => each.name === name))
    throw new Failure('VALIDATION_FAILED', t('maps.example_exists', { name }))
  const context = fields.context?.trim() ? parseJson(fields.context) : undefined
  const examples = withExample(fields.examples ?? '', {
    name,
    from: endOf(fields.input ?? ''),
    ...(isObject(context) && { context }),
    to: endOf(output),
  })
  return { ...fields, examples, example_name: '' }
}

/** JSON, or the segments of a message. */
function endOf(value: string): Example['from'] {
  const isJson = value.trimStart().startsWith('{')
  return isJson ? (parseJson(value) as Example['from']) : value.split('\n').filter(each => each !== '')
}
