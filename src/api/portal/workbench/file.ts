// The editor of a file that is not a map, with the effect of a change beside it: the weights of matching, and the consent types.

import type { Problem } from '../../../fml/problem.ts'
import type { Route } from '../../../http/route.ts'
import { asFailure, Failure } from '../../../lib/failure.ts'
import { type Static, Type } from '../../../lib/schema.ts'
import type { SourceFile } from '../../../mapping/files.ts'
import type { Marked } from '../../../mapping/workbench/asks.ts'
import { markedOf } from '../../../mapping/workbench/marked.ts'
import { digestOf } from '../../../mapping/workbench/versions.ts'
import { assetAddress } from '../assets.ts'
import { type Html, html } from '../html.ts'
import { action, failingWith, type PageView, page } from '../page.ts'
import type { TextKey } from '../texts.ts'
import { refusal } from './editor.ts'
import { unfolded } from './fields.ts'
import { live } from './live.ts'
import { problemList } from './panels.ts'
import { roles, tabs, type WorkbenchPageParts } from './parts.ts'
import { patchReply } from './patch.ts'

const text = Type.String({ maxLength: 500_000 })
const value = Type.Optional(Type.String({ maxLength: 200 }))

/** The fields that an effect may be shown for: two people. */
const tried = {
  given_1: value,
  family_1: value,
  birth_date_1: value,
  birth_order_1: value,
  gender_1: value,
  phone_1: value,
} as const
const other = {
  given_2: value,
  family_2: value,
  birth_date_2: value,
  birth_order_2: value,
  gender_2: value,
  phone_2: value,
} as const

const fields = Type.Object({ text, people: value, ...tried, ...other }, { additionalProperties: false })

const form = Type.Object(
  {
    ...fields.properties,
    basis: Type.String({ maxLength: 64 }),
    may_fail: Type.Optional(Type.String({ maxLength: 3 })),
    do: Type.String({ maxLength: 10 }),
  },
  { additionalProperties: false },
)

/** What is in the fields of the editor. */
export type FileFields = Static<typeof fields>

/** One file with an editor of its own. */
export interface EditedFile {
  /** In the folder: `matching.json`. */
  readonly name: string
  readonly path: '/portal/matching' | '/portal/consent-types'
  readonly operation: string
  readonly title: TextKey
  readonly about: TextKey
  readonly label: TextKey
  /** What is wrong with the text of the file. */
  problems(file: SourceFile): readonly Problem[]
  /** The fields beside the text; none for an effect that needs none. */
  inputs(view: PageView, fields: FileFields): Html
  /** The effect of the text. */
  effect(view: PageView, file: SourceFile, fields: FileFields): Html
}

/** The pages of a file. */
export const fileRoutes = (parts: WorkbenchPageParts, file: EditedFile): Route[] => {
  const { path, operation: name, title } = file
  const common = { path, title, roles } as const
  return [
    page({
      ...common,
      name,
      query: Type.Object({ saved: Type.Optional(Type.String({ maxLength: 3 })) }),
      async show({ query: { saved } }, view) {
        const found = await sourceOf(parts, file)
        const note = saved && html`<p class="state done" role="status">${view.t('maps.saved')}</p>`
        return html`${note}${await editor(parts, view, file, { text: found.text }, digestOf(found.text))}`
      },
    }),
    action({
      ...common,
      name: `${name}Change`,
      form,
      maxBodyBytes: 2_000_000,
      async act({ body, caller }, view) {
        const { do: wish, basis, may_fail, ...sent } = unfolded(body)
        try {
          const changed = { name: file.name, text: sent.text }
          if (wish === 'save') {
            await parts.workbench.save(caller, [{ ...changed, basis }], may_fail === 'yes')
            return { to: `${path}?saved=yes` }
          }
          if (wish === 'patch') return await patchReply(parts, file.name, [changed])
          return await editor(parts, view, file, sent, basis)
        } catch (error) {
          const failure = asFailure(error)
          throw failingWith(failure, view, title, await editor(parts, view, file, sent, basis, refusal(failure)))
        }
      },
    }),
    live(name.replace(/^portal/, '').toLowerCase(), fields, async ({ body }, view) => {
      const source = { ...(await sourceOf(parts, file)), text: body.text }
      const problems = problemsOf(file, source)
      const panels = { problems: problemList(view, problems), effect: file.effect(view, source, body) }
      return { problems, panels: Object.fromEntries(Object.entries(panels).map(([id, piece]) => [id, piece.html])) }
    }),
  ]
}

/** @throws Failure NOT_FOUND */
async function sourceOf({ workbench }: WorkbenchPageParts, { name }: EditedFile): Promise<SourceFile> {
  const found = (await workbench.folder()).files.find(each => each.name === name)
  if (found) return found
  throw new Failure('NOT_FOUND', `There is no file ${name} in the folder of the maps.`)
}

function problemsOf(file: EditedFile, source: SourceFile): Marked[] {
  try {
    JSON.parse(source.text)
  } catch (error) {
    const span = { offset: 0, length: 1, line: 1, column: 1 }
    return markedOf([{ message: `this is not JSON: ${(error as Error).message}`, span, file: source.path }], [source])
  }
  return markedOf(file.problems(source), [source])
}

async function editor(
  parts: WorkbenchPageParts,
  view: PageView,
  file: EditedFile,
  fields: FileFields,
  basis: string,
  note?: Html,
): Promise<Html> {
  const { t } = view
  const { path, about, label, operation } = file
  const isWritable = await parts.workbench.isWritable()
  const source = { ...(await sourceOf(parts, file)), text: fields.text }
  return html`${tabs(view)}${note}<p>${t(about)}</p>
<form method="post" action="${path}" class="workbench" data-live="${operation.replace(/^portal/, '').toLowerCase()}" autocomplete="off">
<input type="hidden" name="basis" value="${basis}">
<div class="bench"><section><h2><label for="text">${t(label)}</label></h2>
<textarea id="text" name="text" rows="28" wrap="off" spellcheck="false" required>
${fields.text}</textarea>
<div id="problems" role="status">${problemList(view, problemsOf(file, source))}</div>
<p class="row"><button type="submit" name="do" value="run">${t('maps.run')}</button>
${isWritable ? html`<button type="submit" name="do" value="save">${t('maps.save')}</button>` : html`<span class="state pending">${t('maps.read_only')}</span>`}
<button type="submit" name="do" value="patch">${t('maps.patch')}</button></p></section>
<section>${file.inputs(view, fields)}<div id="effect" role="status">${file.effect(view, source, fields)}</div></section></div></form>
<script type="module" src="${assetAddress('file-editor.js')}"></script>`
}
