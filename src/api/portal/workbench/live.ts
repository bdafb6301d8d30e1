// What the scripts of the editor ask while an author writes: what came of a change, what can be written at a place, and what a name is.

import type { UserCaller } from '../../../access/caller.ts'
import { type Route, type RouteRequest, reply, route, session } from '../../../http/route.ts'
import { Failure } from '../../../lib/failure.ts'
import { type Static, type TObject, Type } from '../../../lib/schema.ts'
import { type PageView, viewFor } from '../page.ts'
import { isOpenTo } from '../sections.ts'
import { draftsOf, maxFormBytes, tryOf } from './fields.ts'
import { panels } from './panels.ts'
import { roles, type WorkbenchPageParts } from './parts.ts'

const draft = {
  map: Type.String({ pattern: '^[\\w/.-]{1,120}$' }),
  text: Type.String({ maxLength: 2_100_000 }),
}

const place = Type.Object(
  { ...draft, offset: Type.Integer({ minimum: 0, maximum: 2_100_000 }) },
  { additionalProperties: false },
)

const change = Type.Object(
  {
    ...draft,
    examples: Type.String({ maxLength: 4_000_000 }),
    input: Type.String({ maxLength: 2_000_000 }),
    context: Type.String({ maxLength: 100_000 }),
    run: Type.String({ maxLength: 120 }),
  },
  { additionalProperties: false },
)

export const liveRoutes = (parts: WorkbenchPageParts): Route[] => [
  live('try', change, async ({ body: { map, ...fields }, caller }, view) => {
    const tried = await tryOf(parts, caller.clientId, map, fields)
    const shown = panels(view, tried)
    const { problems, rules, groups, runnable } = tried
    const html = Object.fromEntries(Object.entries(shown).map(([id, piece]) => [id, piece.html]))
    return { problems: problems.filter(({ file }) => file === `${map}.fml`), rules, groups, runnable, panels: html }
  }),
  live('complete', place, async ({ body: { map, text, offset }, caller }) => {
    const found = await parts.workbench.ask(caller.clientId, draftsOf(map, { text }), { kind: 'complete', offset })
    return found ?? { from: offset, to: offset, options: [] }
  }),
  live('explain', place, async ({ body: { map, text, offset }, caller }) => {
    const found = await parts.workbench.ask(caller.clientId, draftsOf(map, { text }), { kind: 'explain', offset })
    return found ?? {}
  }),
]

/** A route that scripts call. It changes nothing, and is no part of the API. */
export function live<Body extends TObject>(
  name: string,
  body: Body,
  answer: (request: RouteRequest<undefined, undefined, Static<Body>, UserCaller>, view: PageView) => Promise<object>,
): Route {
  return route({
    method: 'POST',
    path: `/portal/workbench/${name}`,
    tag: 'Portal',
    operationId: `portalWorkbench${name[0]!.toUpperCase()}${name.slice(1)}`,
    summary: `Workbench: ${name}`,
    access: session,
    page: {},
    isAboutCaller: true,
    isRepeatable: true,
    body,
    maxBodyBytes: maxFormBytes,
    replies: { 200: null },
    async handle(request) {
      if (!isOpenTo(request.caller, roles))
        throw new Failure('FORBIDDEN', `The workbench is for users with the role ${roles.join(' or ')}.`)
      return reply(200, await answer(request as never, viewFor(request)))
    },
  })
}
