// The libraries that scripts of the portal import, as their packages hold them: ES modules, served as files of this service. Browsers know
// no names of packages, so that each import of one becomes the address of its file.
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The packages, with those that they import themselves. */
const packages = [
  '@codemirror/autocomplete',
  '@codemirror/commands',
  '@codemirror/lang-json',
  '@codemirror/language',
  '@codemirror/lint',
  '@codemirror/search',
  '@codemirror/state',
  '@codemirror/streamparser',
  '@codemirror/view',
  '@lezer/common',
  '@lezer/highlight',
  '@lezer/json',
  '@lezer/lr',
  '@marijn/find-cluster-break',
  'crelt',
  'style-mod',
  'uplot',
  'w3c-keyname',
]

/** Files of packages beside their modules. */
const styles: Readonly<Record<string, string>> = { 'uplot.css': 'uplot/dist/uPlot.min.css' }

interface Manifest {
  readonly version: string
  /** The ES module of the package. */
  readonly module?: string
  readonly exports?: { readonly import?: string }
}

/** Returns the file name that a package is served by: `codemirror-view.js` for `@codemirror/view`. */
const fileOf = (name: string): string => `${name.replace(/^@/, '').replace('/', '-')}.js`

const byFile: ReadonlyMap<string, string> = new Map(packages.map(name => [fileOf(name), name]))

function manifestOf(name: string): Manifest & { readonly folder: string } {
  const file = findPackageJSON(name, import.meta.url)
  if (!file) throw new Error(`the package ${name} is not installed`)
  return { ...(JSON.parse(readFileSync(file, 'utf8')) as Manifest), folder: dirname(file) }
}

/** Returns names and versions of all packages: what their addresses change with. */
export const libraryVersions = (): string => packages.map(name => `${name} ${manifestOf(name).version}`).join('\n')

/** True if a file of this name comes from a package. */
export const isLibrary = (name: string): boolean => byFile.has(name) || Object.hasOwn(styles, name)

/** Reads a file of a package, as it is served. */
export function readLibrary(name: string): Buffer {
  if (Object.hasOwn(styles, name)) {
    const [owner = '', ...path] = styles[name]!.split('/')
    return readFileSync(join(manifestOf(owner).folder, ...path))
  }
  const { folder, module, exports } = manifestOf(byFile.get(name)!)
  return withAddresses(readFileSync(join(folder, module ?? exports?.import ?? 'index.js')))
}

const imports = /\b(from|import)(\s*)(['"])([^'"\n]+)\3/g

/** Returns a module whose imports of packages are addresses of files beside it. */
export function withAddresses(module: Buffer): Buffer {
  const text = module.toString('utf8')
  return Buffer.from(
    text.replace(imports, (written, keyword: string, space: string, quote: string, name: string) =>
      packages.includes(name) ? `${keyword}${space}${quote}./${fileOf(name)}${quote}` : written,
    ),
  )
}
