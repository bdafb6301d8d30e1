// A FHIR interaction free of HTTP: the same for a request of its own and for an entry of a bundle.
import type { AuditReader } from '../audit/reader.ts'
import type { Memory } from '../lib/blocks.ts'
import { Failure } from '../lib/failure.ts'
import type { Pieces } from '../lib/pieces.ts'
import type { MapService } from '../mapping/service.ts'
import type { People } from './people.ts'

/** The CapabilityStatement as JSON text, with its entity tag. */
export interface Metadata {
  readonly body: string
  readonly etag: string
}

export interface FhirRequest {
  readonly method: string
  /** The path below the FHIR base, taken apart: `['Patient', '1', '_history']`. */
  readonly segments: readonly string[]
  readonly search: URLSearchParams
  readonly body: unknown
  readonly contentType: string | undefined
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly ifModifiedSince: string | undefined
  readonly ifNoneExist: string | undefined
  readonly prefer: Preferences
  /** Where bodies that are only passed on stay, until the reply is encoded. */
  readonly memory: Memory
  /** Address of the FHIR endpoint as the caller sees it, for links. */
  readonly base: string
  /** The maps of the service. */
  readonly maps: MapService
  /** The register of people, as the caller uses it. */
  readonly people: People
  /** The audit trail, as the caller may see it. */
  readonly trail: AuditReader
  /** The CapabilityStatement for the address by which the caller called. */
  readonly capabilities: () => Metadata
}

/** What a search takes of a request. */
export type SearchCall = Pick<
  FhirRequest,
  'segments' | 'search' | 'body' | 'base' | 'prefer' | 'maps' | 'people' | 'trail' | 'memory'
>

export interface Preferences {
  readonly return: 'minimal' | 'representation' | 'OperationOutcome'
  readonly strict: boolean
  /** Asked for in so many words, where that is not the default. */
  readonly lenient: boolean
}

/** The outcome of an interaction; `body` is JSON text, ready to be sent or put into a bundle. */
export interface FhirReply {
  readonly status: number
  readonly body?: string | Pieces
  /** The body without what was read for it, which a repetition reads again; null: nothing is left of it. */
  readonly kept?: Pieces | null
  /** How many resources the Bundle of a search has, remarks on the search apart. */
  readonly found?: number
  readonly version?: number
  readonly updatedAt?: Date
  /** `Type/id/_history/version`, after a creation. */
  readonly location?: string
}

/** Reads a Prefer header (RFC 7240). @throws Failure MALFORMED_REQUEST for a handling that is neither strict nor lenient. */
export function preferences(header: string | undefined): Preferences {
  const entries = Object.fromEntries(
    (header ?? '').split(/[,;]/).map(part =>
      part
        .trim()
        .split('=', 2)
        .map(word => word?.trim().replace(/^"|"$/g, '') ?? ''),
    ),
  )
  const { handling, return: wanted } = entries as Record<string, string | undefined>
  if (handling !== undefined && handling !== 'strict' && handling !== 'lenient')
    throw new Failure('MALFORMED_REQUEST', 'Prefer: handling must be strict or lenient.')
  return {
    return: wanted === 'minimal' || wanted === 'OperationOutcome' ? wanted : 'representation',
    strict: handling === 'strict',
    lenient: handling === 'lenient',
  }
}

/**
 * The version of an If-Match or If-None-Match value such as `W/"3"`.
 * @throws Failure MALFORMED_REQUEST if it is no entity tag of ours.
 */
export function versionOf(header: string | undefined, name: string): number | undefined {
  if (header === undefined) return undefined
  const match = /^(?:W\/)?"(\d{1,9})"$/.exec(header.trim())
  if (!match) throw new Failure('MALFORMED_REQUEST', `${name} must be the ETag of a version, such as W/"3".`)
  return Number(match[1])
}

/** True if If-None-Match asks that nothing exist yet. */
export function isCreateOnly(header: string | undefined): boolean {
  return header?.trim() === '*'
}
