// The history of a map: its versions with their authors, the difference between one and what is there now, and the way back.

import type { Route } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { Type } from '../../../lib/schema.ts'
import { digestOf, type Version } from '../../../mapping/workbench/versions.ts'
import { moment } from '../format.ts'
import { type Html, html } from '../html.ts'
import { action, type PageView, page } from '../page.ts'
import { difference } from './panels.ts'
import { addressOf, mustBeMap, nameIn, params, roles, tabs, type WorkbenchPageParts } from './parts.ts'

const id = Type.String({ pattern: '^\\d{1,18}$' })

export const mapHistoryRoutes = (parts: WorkbenchPageParts): Route[] => [
  page({
    path: '/portal/maps/{name}/history',
    name: 'portalMapHistory',
    title: 'maps.history',
    roles,
    params,
    query: Type.Object({ version: Type.Optional(id) }, { additionalProperties: false }),
    async show({ params: { name }, query: { version } }, view) {
      const { workbench } = parts
      const file = mustBeMap(nameIn(name), (await workbench.folder()).files)
      const versions = await workbench.versions(file.name)
      const old = version === undefined ? undefined : await mustFind(parts, file.name, version)
      return html`${tabs(view)}<p><a href="${addressOf(nameIn(name))}">${file.name}</a></p>${
        old && comparison(parts, view, { name: nameIn(name), old, now: file.text })
      }${table(parts, view, nameIn(name), versions)}`
    },
  }),
  action({
    path: '/portal/maps/{name}/revert',
    name: 'portalMapRevert',
    title: 'maps.history',
    roles,
    params,
    form: Type.Object({ version: id, basis: Type.String({ maxLength: 64 }) }, { additionalProperties: false }),
    async act({ params: { name }, body: { version, basis }, caller }) {
      const { workbench } = parts
      const file = mustBeMap(nameIn(name), (await workbench.folder()).files)
      const { text } = await mustFind(parts, file.name, version)
      await workbench.save(caller, [{ name: file.name, text, basis }], true)
      return { to: addressOf(nameIn(name), '?saved=yes') }
    },
  }),
]

/** @throws Failure NOT_FOUND */
async function mustFind({ workbench }: WorkbenchPageParts, name: string, id: string): Promise<Version> {
  const found = await workbench.version(name, id)
  if (found) return found
  throw new Failure('NOT_FOUND', `There is no such version of ${name}.`)
}

interface Compared {
  readonly name: string
  readonly old: Version
  readonly now: string
}

function comparison({ timeZone }: WorkbenchPageParts, { t, language }: PageView, { name, old, now }: Compared): Html {
  const isSame = old.text === now
  return html`<section><h2>${t('maps.since')} ${moment(old.savedAt, language, timeZone)}</h2>${
    isSame
      ? html`<p>${t('maps.same')}</p>`
      : html`${difference(old.text, now, t('maps.since'))}
<form method="post" action="${addressOf(name, '/revert')}"><input type="hidden" name="version" value="${old.id}"><input type="hidden" name="basis" value="${digestOf(now)}">
<button type="submit">${t('maps.revert')}</button> <small>${t('maps.revert_hint')}</small></form>`
  }</section>`
}

function table(
  { timeZone }: WorkbenchPageParts,
  { t, language }: PageView,
  name: string,
  versions: readonly Omit<Version, 'text'>[],
): Html {
  return html`<table class="cards-on-phones"><thead><tr><th scope="col">${t('maps.changed')}</th><th scope="col">${t('maps.by')}</th><th scope="col">${t('maps.difference')}</th></tr></thead><tbody>
${versions.map(
  ({ id: version, savedAt, savedBy }) =>
    html`<tr><td data-name="${t('maps.changed')}">${moment(savedAt, language, timeZone)}</td><td data-name="${t('maps.by')}">${savedBy ?? t('maps.in_folder')}</td>
<td data-name="${t('maps.difference')}"><a href="${addressOf(name, `/history?version=${version}`)}">${t('maps.compare')}</a></td></tr>\n`,
)}</tbody></table>`
}
