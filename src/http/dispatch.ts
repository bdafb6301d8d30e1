// Finds the route of a request: first the surface by its prefix and the number of segments, then the route within it.
// @koa/router looks through its list one by one, so each of these has a small router of its own.
import Router from '@koa/router'
import { Failure } from '../lib/failure.ts'
import type { Route } from './route.ts'

export interface RouteMatch {
  readonly route: Route
  readonly params: Record<string, string>
}

export type Dispatch = (method: string, path: string) => RouteMatch

/**
 * Where the routes of a path are: the prefix of its surface (`/api/v1/connect`, `/api/fhir/R4`, or its first segment) and the number of
 * its segments. No route has a variable number of them.
 */
function placeOf(path: string): string {
  const parts = path.split('/')
  const prefix = parts[1] === 'api' && parts.length > 3 ? parts.slice(0, 4).join('/') : `/${parts[1] ?? ''}`
  return `${prefix} ${parts.filter(Boolean).length}`
}

interface Surface {
  readonly router: Router
  readonly routes: Map<unknown, Registered>
}

interface Registered {
  readonly route: Route
  /** How many segments of its address are fixed; 0 if it shares the address of a route with parameters. */
  readonly fixed: number
}

const fixedOf = ({ path, sharesAddress }: Route): number =>
  sharesAddress ? 0 : path.split('/').filter(segment => segment && !segment.startsWith('{')).length

/** Builds the finder; later routes of the same shape lose to earlier ones. */
export function createDispatch(routes: readonly Route[]): Dispatch {
  const surfaces = new Map<string, Surface>()
  for (const route of routes) {
    const place = placeOf(route.path)
    const surface = surfaces.get(place) ?? { router: new Router({ sensitive: true }), routes: new Map() }
    surfaces.set(place, surface)
    const layer = surface.router.register(
      route.path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll('$', '\\$'),
      [route.method],
      () => {},
    )
    surface.routes.set(layer, { route, fixed: fixedOf(route) })
  }
  // Some clients escape the dollar sign of an operation.
  return (method, path) => find(surfaces.get(placeOf(path)), method, path.replaceAll('%24', '$'))
}

/**
 * Returns the route. An address belongs to the routes with the most fixed segments that fit it: `PUT metadata` is not an
 * update of all resources of a type `metadata`.
 * @throws Failure NOT_FOUND, METHOD_NOT_ALLOWED
 */
function find(surface: Surface | undefined, method: string, path: string): RouteMatch {
  const matched = surface?.router.match(path, method === 'HEAD' ? 'GET' : method)
  if (!surface || !matched?.path.length)
    throw new Failure(
      'NOT_FOUND',
      `No operation exists at this address (${method}): see /openapi.json for all operations.`,
    )
  const fixed = (layer: unknown): number => surface.routes.get(layer)!.fixed
  const most = matched.path.reduce((highest, layer) => Math.max(highest, fixed(layer)), 0)
  const layer = matched.pathAndMethod[0]
  if (layer && matched.pathAndMethod.some(each => fixed(each) === most))
    return { route: surface.routes.get(layer)!.route, params: layer.params(path, layer.captures(path)) }
  const own = matched.path.filter(each => fixed(each) === most)
  const allowed = [...new Set(own.flatMap(each => each.methods))].filter(name => name !== 'HEAD')
  throw new Failure('METHOD_NOT_ALLOWED', `This address does not support ${method}, only ${allowed.join(', ')}.`, {
    headers: { allow: allowed.join(', ') },
  })
}
