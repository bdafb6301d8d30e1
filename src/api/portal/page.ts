// A page of the portal is one value: its address, who may see it, and what it shows. From it follows a route that answers with HTML,
// sends those who have not signed in to do so, and shows failures as a page.

import type { Role, UserCaller } from '../../access/caller.ts'
import { type Reply, type Route, type RouteRequest, reply, route, session } from '../../http/route.ts'
import { Failure } from '../../lib/failure.ts'
import { isList, type Static, type TObject } from '../../lib/schema.ts'
import { check } from '../../shapes/check.ts'
import type { Html } from './html.ts'
import { type Frame, failurePage, framed, ownPages } from './layout.ts'
import { isOpenTo } from './sections.ts'
import { languageOf, type TextKey, translator } from './texts.ts'

type Of<Schema> = Schema extends TObject ? Static<Schema> : undefined

/** What a page is made with: the texts of the reader's language, and the reader. */
export interface PageView extends Frame {
  readonly caller: UserCaller
}

interface Described<Params, Query> {
  /** `/portal/…`; parameters in braces. */
  readonly path: string
  /** Unique among all routes. */
  readonly name: string
  readonly title: TextKey
  /** Who may see it: users with one of the roles, and administrators; none: every user. */
  readonly roles: readonly Role[]
  readonly params?: Params
  readonly query?: Query
}

interface PageDefinition<Params, Query> extends Described<Params, Query> {
  show(request: RouteRequest<Of<Params>, Of<Query>, undefined, UserCaller>, view: PageView): Html | Promise<Html>
}

interface ActionDefinition<Params, Query, Form extends TObject> extends Described<Params, Query> {
  /** The fields of the form. */
  readonly form: Form
  /** Default: 256 KiB. */
  readonly maxBodyBytes?: number
  /** Does what the form asks for; returns the address of the page that shows it, or a page or file of its own for what is shown only once. */
  act(
    request: RouteRequest<Of<Params>, Of<Query>, Static<Form>, UserCaller>,
    view: PageView,
  ): Promise<{ readonly to: string } | Html | Reply>
}

/** @throws Failure FORBIDDEN */
function mustHave(caller: UserCaller, needed: readonly Role[]): void {
  if (isOpenTo(caller, needed)) return
  throw new Failure('FORBIDDEN', `This page is for users with the role ${needed.join(' or ')}.`)
}

/** What the pieces of a page are made with, for this request. */
export function viewFor(request: RouteRequest<unknown, unknown, unknown, UserCaller>): PageView {
  const language = languageOf(request.headers)
  const { path, caller } = request
  return { t: translator(language), language, path, caller }
}

const formType = 'application/x-www-form-urlencoded'
const ofPortal = { tag: 'Portal', access: session, page: { failure: failurePage } } as const

/** Makes the route of a page. */
export function page<Params extends TObject | undefined = undefined, Query extends TObject | undefined = undefined>(
  definition: PageDefinition<Params, Query>,
): Route {
  const { path, name, title, roles, params, query, show } = definition
  return route({
    ...{ ...ofPortal, method: 'GET', path, operationId: name, summary: title },
    isAboutCaller: true,
    params: params as Params,
    query: query as Query,
    produces: 'text/html',
    replies: { 200: null },
    async handle(request) {
      mustHave(request.caller, roles)
      const view = viewFor(request)
      return framed(view, title, await show(request as never, view))
    },
  })
}

/** Makes the route of a form. The audit trail has each request, with the user. */
export function action<
  Form extends TObject,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
>(definition: ActionDefinition<Params, Query, Form>): Route {
  const { path, name, title, roles, params, query, form, maxBodyBytes = 262_144, act } = definition
  return route({
    ...{ ...ofPortal, method: 'POST', path, operationId: name, summary: title },
    params: params as Params,
    query: query as Query,
    body: form,
    consumes: [formType],
    bodyOptional: true,
    maxBodyBytes,
    isRepeatable: true,
    produces: 'text/html',
    replies: { 303: null },
    async handle(request) {
      mustHave(request.caller, roles)
      const view = viewFor(request)
      const body = fieldsOf(form, request.body)
      const done = await act({ ...request, body } as never, view)
      if ('status' in done) return done
      return 'to' in done ? seeOther(done.to) : framed(view, title, done)
    },
  })
}

/** Returns a failure that is shown as a page of its own, so that a form keeps what was written into it. */
export function failingWith(failure: Failure, view: PageView, title: TextKey, main: Html): Failure {
  ownPages.set(failure, framed(view, title, main, failure.status))
  return failure
}

/** Returns the fields of a form; one that is a list has each value that was sent. @throws Failure VALIDATION_FAILED */
export function fieldsOf<Form extends TObject>(form: Form, body: unknown): Static<Form> {
  const sent = body instanceof URLSearchParams ? body : new URLSearchParams()
  const takesSeveral = (name: string) => form.properties[name] !== undefined && isList(form.properties[name])
  const fields = Object.fromEntries(
    [...new Set(sent.keys())].map(name => [name, takesSeveral(name) ? sent.getAll(name) : sent.getAll(name).at(-1)]),
  )
  check(form, fields)
  return fields as Static<Form>
}

/** The reply that leads a browser to another page once its form is done. */
export const seeOther = (to: string, headers: Readonly<Record<string, string>> = {}): Reply =>
  reply(303, undefined, { ...headers, location: to })
