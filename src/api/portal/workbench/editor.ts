// The editor of one map: its text, an input and what the map makes of it, its examples and what it covers. All of it is one form, so that
// it works without scripts; with them, the panels follow each change.

import type { UserCaller } from '../../../access/caller.ts'
import { format } from '../../../fml/format.ts'
import type { Route } from '../../../http/route.ts'
import { asFailure, Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import type { Tried } from '../../../mapping/workbench/asks.ts'
import { digestOf } from '../../../mapping/workbench/versions.ts'
import { assetAddress } from '../assets.ts'
import { type Html, html } from '../html.ts'
import { action, failingWith, type PageView, page } from '../page.ts'
import { draftsOf, exampled, type Fields, fieldsOf, form, loaded, maxFormBytes, tryOf, unfolded } from './fields.ts'
import { panels } from './panels.ts'
import { addressOf, filesOf, nameIn, params, roles, tabs, type WorkbenchPageParts } from './parts.ts'
import { patchReply } from './patch.ts'

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
        if (wish === 'save') return await saved(parts, caller, map, fields)
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

/** Saves the map in its layout, and its examples. @throws Failure as the workbench does */
async function saved({ workbench }: WorkbenchPageParts, author: UserCaller, map: string, fields: Fields) {
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
