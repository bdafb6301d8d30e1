// The mapping service behind $transform: the service's own maps, and a place to run those of clients.

import { toStructureMap } from '../fml/structure-map.ts'
import { unversioned } from '../fml/structures.ts'
import { shapes } from '../shapes/all.ts'
import type { SourceFile } from './files.ts'
import { type Job, type JobOutcome, runProgram } from './job.ts'
import { matching } from './map-urls.ts'
import type { Mappings } from './mappings.ts'
import { type OwnResource, ownResources } from './own-resources.ts'
import type { Study } from './study.ts'
import type { Transformer } from './transformer.ts'

export interface MapService {
  /** Of this service, for traces. */
  readonly version: string
  /** What a map may take as its second source where the request brings none. */
  context(): unknown
  /** The files of the service's maps of a URL, which may hold `*`. */
  files(url: string): SourceFile[]
  /** Returns the logical models and concept maps stored next to these. */
  resources(): SourceFile[]
  /** True if the URL of a structure is one of R4, of a record of the interface, or of one of the service's models. */
  knows(url: string): boolean
  /** Runs a map that came with the request, in the client's turn. @throws Failure as the transformer. */
  run(job: Job): Promise<JobOutcome>
  /** Returns the static facts of maps. @throws Failure as the transformer. */
  study(files: readonly SourceFile[]): Promise<readonly Study[]>
  /** The service's own definitions, as resources. */
  own(): readonly OwnResource[]
  /** Runs the service's own map of a URL, which is compiled already; undefined if there is none. */
  runOwn(url: string, work: Pick<Job, 'sources' | 'isTraced'>): JobOutcome | undefined
}

interface Service {
  readonly version: string
  /** What the systems of its identifiers begin with. */
  readonly origin: string
}

/** Creates the mapping service of each client; a client's maps run in its own turn. */
export function createMapServices(
  mappings: Mappings,
  transformer: Transformer,
  service: Service,
): (client: string) => MapService {
  const shared = sharedService(mappings, service)
  return client => ({
    ...shared,
    run: job => transformer.run(client, job),
    study: files => transformer.study(client, files),
  })
}

function sharedService(mappings: Mappings, service: Service): Omit<MapService, 'run' | 'study'> {
  return {
    version: service.version,
    context: () => ({
      base_url: service.origin,
      received_at: new Date().toISOString(),
      namespace: `${service.origin}/fhir/NamingSystem/facility`,
    }),
    files(url) {
      const all = [...mappings.set().mappings.values()]
      return matching(new Map(all.map(({ text, source }) => [text.url ?? '', byName(source)])), url)
    },
    own: () => ownResources(mappings.set(), mappings.files(), shapes),
    resources: () =>
      mappings
        .files()
        .filter(({ name }) => name.endsWith('.json'))
        .map(byName),
    runOwn(url, work) {
      const own = [...mappings.set().mappings.values()].find(({ text }) => text.url === unversioned(url))
      if (!own?.program) return undefined
      const map = work.isTraced ? JSON.stringify(toStructureMap(own.parsed.map).resource) : undefined
      const names = new Map(mappings.files().map(({ path, name }) => [path, name]))
      return runProgram(own.program, work, [], map, path => names.get(path) ?? path)
    },
    knows: url => mappings.set().structures.byUrl(url) !== undefined,
  }
}

/** The file as answers may name it: without the place of the folder on this machine. */
function byName(file: SourceFile): SourceFile {
  return { ...file, path: file.name }
}
