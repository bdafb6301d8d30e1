// npm run map -- package: the maps, and what they speak of, as a FHIR package for other tools.
// https://hl7.org/fhir/R4/packages.html · https://confluence.hl7.org/display/FHIR/NPM+Package+Specification

import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { type CommandResult, UsageError } from '../../lib/command.ts'
import type { OwnResource } from '../../mapping/own-resources.ts'
import { isWarning } from '../../mapping/set.ts'
import type { MapCall, MapCommand } from './command.ts'
import { pathHere } from './paths.ts'
import { tarOf } from './tar.ts'
import { counted, listed, openWorkspace, rendered } from './workspace.ts'

export const pack: MapCommand = {
  name: 'package',
  usage: '--output FILE [--version VERSION]',
  summary: 'Write the maps and their dependencies to a FHIR package (.tgz)',
  details: [
    'The package contains a StructureMap for each map, and the StructureDefinitions, CodeSystems, ValueSets and ConceptMaps',
    'that the maps use. Validators load it together with hl7.fhir.r4.core. Maps with problems are not included.',
  ].join('\n'),
  options: {
    output: { value: 'FILE', meaning: 'the file of the package, such as health-interop.tgz' },
    version: { value: 'VERSION', meaning: 'the version of the package (default 0.1.0)' },
  },
  run,
}

const NAME = 'health-interop.maps'

async function run(call: MapCall): Promise<CommandResult> {
  const output = call.text('output')
  if (output === undefined) throw new UsageError('--output is required: the file of the package')
  const version = call.text('version') ?? '0.1.0'
  if (!/^\d+\.\d+\.\d+(?:-[A-Za-z0-9.-]+)?$/.test(version))
    throw new UsageError(`${version} is not a version such as 1.0.0`)
  const { set, files, problems } = await openWorkspace(call)
  const errors = problems.filter(each => !isWarning(each))
  if (errors.length > 0) return { isGood: false, text: rendered(errors, files), json: { problems: listed(errors) } }
  const { ownResources } = await import('../../mapping/own-resources.ts')
  const resources = ownResources(set, files, call.shapes)
  await writeFile(pathHere(output), gzipSync(tarOf(entriesOf(resources, version))))
  return {
    isGood: true,
    text: `${output}: ${counted(resources.length, 'resource')}\n`,
    json: { output, name: NAME, version, resources: resources.map(({ type, id, url }) => ({ type, id, url })) },
  }
}

function entriesOf(resources: readonly OwnResource[], version: string): Map<string, string> {
  const about = {
    name: NAME,
    version,
    description: 'Maps between the records of health-interop and FHIR R4, with their dependencies.',
    license: 'Apache-2.0',
    type: 'IG',
    fhirVersions: ['4.0.1'],
    dependencies: { 'hl7.fhir.r4.core': '4.0.1' },
  }
  const index = resources.map(({ type, id, url, resource }) => ({
    filename: fileOf({ type, id }),
    resourceType: type,
    id,
    url,
    version: resource['version'],
    kind: resource['kind'],
    type: resource['type'],
  }))
  return new Map([
    ['package/package.json', JSON.stringify(about, null, 2)],
    ['package/.index.json', JSON.stringify({ 'index-version': 2, files: index }, null, 2)],
    ...resources.map(each => [`package/${fileOf(each)}`, JSON.stringify(each.resource, null, 2)] as const),
  ])
}

function fileOf({ type, id }: Pick<OwnResource, 'type' | 'id'>): string {
  return `${type}-${id}.json`
}
