// The editor of one map: its text, an input and what the map makes of it, its examples and what it covers. All of it is one form, so that
// it works without scripts; with them, the panels follow each change.
import { type Static, Type } from 'typebox'
import { format } from '../../../fml/format.ts'
import type { Route } from '../../../http/route.ts'
import { asFailure, Failure } from '../../../lib/failure.ts'
import { isObject, parseJson } from '../../../lib/json.ts'
import { type Example, examplesIn } from '../../../mapping/examples.ts'
import type { SourceFile } from '../../../mapping/files.ts'
import type { Draft, Tried } from '../../../mapping/workbench/asks.ts'
import { withExample } from '../../../mapping/workbench/new-example.ts'
import { digestOf } from '../../../mapping/workbench/versions.ts'
import { assetAddress } from '../assets.ts'
import { type Html, html } from '../html.ts'
import { action, failingWith, type PageView, page } from '../page.ts'
import { panels } from './panels.ts'
import { addressOf, filesOf, nameIn, params, roles, tabs, type WorkbenchPageParts } from './parts.ts'
import { patchReply } from './patch.ts'

/** A map of two million characters, its examples and an input, as a form sends them. */
export const maxFormBytes = 16 * 1024 * 1024

const text = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

const form = Type.Object(
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

export const editorRoutes = (parts: WorkbenchPageParts): Route[] => [
  page({
    path: '/portal/maps/{name}',
    name: 'portalMap',
    title: 'maps.one',
    roles,
    params,
    query: Type.Object({ saved: Type.Optional(Type.String({ maxLength: 3 })) }),
    async show({ params: { name }, query: { saved }, caller }, view) {
      const map = nameIn(name)
      const { files } = await parts.workbench.folder()
      const fields = fieldsOf(map, files)
      return html`${saved && html`<p class="state done" role="status">${view.t('maps.saved')}</p>`}${await editor(parts, view, caller.clientId, map, fields, { isStored: true })}`
    },
  }),
  action({
    path: '/portal/maps/{name}',
    name: 'portalMapChange',
    title: 'maps.one',
    roles,
    params,
    form,
    maxBodyBytes: maxFormBytes,
    async act({ params: { name }, body, caller }, view) {
      const map = nameIn(name)
      const { do: wish, ...sent } = body
      const fields = unfolded(sent)
      const again = (now: Fields, note?: Html) => editor(parts, view, caller.clientId, map, now, { note })
      try {
        if (wish === 'save') return await saved(parts, caller.email, map, fields)
        if (wish === 'patch')
          return await patchReply(parts, map, draftsOf(map, { ...fields, text: format(fields.text) }))
        if (wish === 'format') return await again({ ...fields, text: format(fields.text) })
        if (wish === 'example') return await again(await exampled(parts, caller.clientId, map, fields, view))
        if (wish.startsWith('load:')) return await again(loaded(map, fields, wish.slice(5)))
        return await again(fields)
      } catch (error) {
        // What the author wrote must not be lost with the reason.
        const failure = asFailure(error)
        throw failingWith(failure, view, 'maps.one', await again(fields, refusal(failure)))
      }
    },
  }),
]

/** Shows the editor of a map that is not saved yet. */
export const editorOf = (
  parts: WorkbenchPageParts,
  view: PageView,
  client: string,
  map: string,
  fields: Pick<Fields, 'text' | 'input'>,
): Promise<Html> => editor(parts, view, client, map, fields)

/** Browsers end the lines of a form with two characters. */
export function unfolded<Sent extends object>(fields: Sent): Sent {
  const entries = Object.entries(fields).map(([key, value]) => [
    key,
    typeof value === 'string' ? value.replace(/\r\n?/g, '\n') : value,
  ])
  return Object.fromEntries(entries) as Sent
}

/** The fields as the files have them; the input is that of the first example. @throws Failure NOT_FOUND */
function fieldsOf(map: string, files: readonly SourceFile[]): Fields {
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
function loaded(map: string, fields: Fields, name: string): Fields {
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
async function exampled(
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

/** Saves the map in its layout, and its examples. @throws Failure as the workbench does */
async function saved({ workbench }: WorkbenchPageParts, author: string, map: string, fields: Fields) {
  const { basis = '', examples = '', examples_basis = '', may_fail } = fields
  const before = filesOf(map, (await workbench.folder()).files)
  const change = { name: before.map?.name ?? `${map}.fml`, text: format(fields.text), basis }
  const beside = { name: `${map}.examples.json`, text: examples, basis: examples_basis }
  const isChanged = examples.trim() !== '' && digestOf(examples) !== examples_basis
  await workbench.save(author, [change, ...(isChanged ? [beside] : [])], may_fail === 'yes')
  return { to: addressOf(map, '?saved=yes') }
}

/** A refusal with its details. */
export const refusal = ({ message, options }: Failure): Html => html`<div class="failure" role="alert"><p>${message}</p>
<ul>${options.details?.map(each => html`<li><code>${each.field}</code> ${each.message}</li>`)}</ul></div>`

async function editor(
  parts: WorkbenchPageParts,
  view: PageView,
  client: string,
  map: string,
  fields: Fields,
  { note, isStored }: { readonly note?: Html; readonly isStored?: true } = {},
): Promise<Html> {
  const { t } = view
  const tried = await tryOf(parts, client, map, fields).catch((error: unknown) => asFailure(error))
  const shown = tried instanceof Failure ? undefined : tried
  const isWritable = await parts.workbench.isWritable()
  const found = shown && panels(view, shown)
  return html`${tabs(view)}${note ?? (tried instanceof Failure ? refusal(tried) : '')}
<p><strong>${map}.fml</strong> ${fields.basis && html`<a href="${addressOf(map, '/history')}">${t('maps.history')}</a>`}${!isWritable && html` <span class="state pending">${t('maps.read_only')}</span>`}</p>
<form method="post" action="${addressOf(map)}" class="workbench" data-map="${map}"${isStored && html` data-stored="yes"`} autocomplete="off">
<input type="hidden" name="basis" value="${fields.basis}"><input type="hidden" name="examples_basis" value="${fields.examples_basis}">
<div class="bench"><section><h2><label for="text">${t('maps.text')}</label></h2>
<div id="groups">${found?.['groups']}</div>
<textarea id="text" name="text" rows="28" wrap="off" spellcheck="false" required>
${fields.text}</textarea>
<div id="problems" role="status">${found?.['problems']}</div>
${buttons(view, isWritable)}</section>
<section>${inputs(view, fields, shown)}
<h2>${t('maps.output')}</h2><div id="output">${found?.['output']}</div>${newExample(view, fields)}</section></div>
${sections(view, fields, found)}</form>
<script type="module" src="${assetAddress('workbench.js')}"></script>`
}

function buttons({ t }: PageView, isWritable: boolean): Html {
  return html`<p class="row"><button type="submit" name="do" value="run">${t('maps.run')}</button>
<button type="submit" name="do" value="format">${t('maps.format')}</button>
${isWritable && html`<button type="submit" name="do" value="save">${t('maps.save')}</button>`}
<button type="submit" name="do" value="patch">${t('maps.patch')}</button>
<label class="choice"><input type="checkbox" name="may_fail" value="yes"> <span>${t('maps.may_fail')}</span></label></p>`
}

function inputs({ t }: PageView, fields: Fields, tried: Tried | undefined): Html {
  const runnable = tried?.runnable ?? []
  return html`<h2><label for="input">${t('maps.input')}</label></h2>
${
  runnable.length > 1 &&
  html`<label>${t('maps.run_as')} <select name="run">${runnable.map(
    each => html`<option value="${each}"${each === tried?.run && html` selected`}>${each}</option>`,
  )}</select></label>`
}<textarea id="input" name="input" rows="12" wrap="off" spellcheck="false">
${fields.input}</textarea>
<details${(tried?.takesContext ?? false) && html` open`}><summary>${t('maps.context')}</summary>
<textarea name="context" id="context" rows="4" wrap="off" spellcheck="false" aria-label="${t('maps.context')}">
${fields.context}</textarea></details>
`
}

function newExample({ t }: PageView, { example_name }: Fields): Html {
  return html`<p class="row"><label>${t('maps.example_name')} <input name="example_name" maxlength="200" value="${example_name}"></label>
<button type="submit" name="do" value="example">${t('maps.add_example')}</button></p>`
}

function sections({ t }: PageView, fields: Fields, found: Readonly<Record<string, Html>> | undefined): Html {
  return html`<section><h2>${t('maps.examples')}</h2><div id="examples">${found?.['examples']}</div>
<details><summary>${t('maps.examples_file')}</summary>
<textarea name="examples" id="examples-file" rows="20" wrap="off" spellcheck="false" aria-label="${t('maps.examples_file')}">
${fields.examples}</textarea></details></section>
<details><summary>${t('maps.rules')}</summary><div id="rules">${found?.['rules']}</div></details>
<details><summary>${t('maps.coverage')}</summary><div id="coverage">${found?.['coverage']}</div></details>`
}
