// The built package of the TypeScript client library, installed as a program has it: node_modules/health-interop.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { onCleanup } from '../../support/cleanup.ts'

const root = resolve(import.meta.dirname, '../../..')
const library = join(root, 'clients/typescript')
const run = promisify(execFile)

export interface Installed {
  /** A folder in which programs find the package. */
  readonly program: string
  /** The folder of the package itself. */
  readonly package: string
  /** Runs a tool of the project, or `node`, in a folder; gives what it printed. */
  tool(name: string, parameters: readonly string[], folder?: string): Promise<string>
}

/** Builds the package, packs it, and installs the archive beside what its samples need. */
export async function installPackage(): Promise<Installed> {
  const program = mkdtempSync(join(tmpdir(), 'health-interop-package-'))
  onCleanup(async () => rmSync(program, { recursive: true, force: true }))
  const [source, modules] = [join(program, 'source'), join(program, 'node_modules')]
  for (const folder of [source, join(modules, 'health-interop'), join(modules, '@types')])
    mkdirSync(folder, { recursive: true })
  const tool: Installed['tool'] = async (name, parameters, folder = program) => {
    const file = name === 'node' ? process.execPath : join(root, 'node_modules/.bin', name)
    return (await run(name === 'npm' ? 'npm' : file, [...parameters], { cwd: folder })).stdout
  }
  await tool('node', [join(library, 'build.ts'), join(source, 'dist')])
  cpSync(join(root, 'LICENSE'), join(source, 'LICENSE'))
  for (const name of ['package.json', 'README.md']) cpSync(join(library, name), join(source, name))
  await tool('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', program], source)
  const version = '1.2.0'
  const packed = join(modules, 'health-interop')
  await run('tar', ['-xzf', join(program, `health-interop-${version}.tgz`), '-C', packed, '--strip-components=1'])
  for (const name of ['express', 'koa', '@medplum', '@types/express', '@types/koa', '@types/node'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  cpSync(join(library, 'samples'), join(program, 'samples'), { recursive: true })
  writeFileSync(join(program, 'package.json'), '{"type":"module","private":true}')
  return { program, package: packed, tool }
}
