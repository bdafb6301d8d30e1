// Pages of bundles and of lists, fetched one at a time when they are needed.
import { TransportError } from './errors.ts'
import type { AnyResource, Bundle } from './fhir.ts'

/** The resources of a page and of all that follow: what was searched for, without what it refers to. */
export async function* resourcesOf<R extends AnyResource>(
  first: Bundle<R>,
  fetchPage: (path: string) => Promise<Bundle<R>>,
): AsyncGenerator<R, void, undefined> {
  for (let page: Bundle<R> | undefined = first; page !== undefined; ) {
    for (const { resource, search } of page.entry ?? [])
      if (resource !== undefined && (search?.mode ?? 'match') === 'match') yield resource
    const next: { readonly url: string } | undefined = page.link?.find(({ relation }) => relation === 'next')
    page = next === undefined ? undefined : await fetchPage(pathOf(next.url))
  }
}

/** One page of a list. */
export interface ListPage {
  readonly has_more: boolean
  readonly next_cursor?: string | null
}

/** The entries of all pages of a list. */
export async function* entriesOf<P extends ListPage, E>(
  fetchPage: (cursor: string | undefined) => Promise<P>,
  entries: (page: P) => readonly E[],
  start?: string,
): AsyncGenerator<E, void, undefined> {
  for (let cursor = start; ; ) {
    const page = await fetchPage(cursor)
    yield* entries(page)
    if (!page.has_more || !page.next_cursor) return
    cursor = page.next_cursor
  }
}

/**
 * The path and query of a next link. Its host is left out: a proxy may have written it, and no token goes to another host.
 * @throws TransportError `invalid_response` for a link that leads out of the interface.
 */
function pathOf(link: string): string {
  const url = parsed(link)
  if (url !== null && /^https?:$/.test(url.protocol) && url.pathname.startsWith('/api/'))
    return url.pathname + url.search
  throw new TransportError('invalid_response', 'The link to the next page leads out of the interface.', { attempts: 1 })
}

function parsed(link: string): URL | null {
  try {
    return new URL(link, 'http://localhost')
  } catch {
    return null
  }
}
