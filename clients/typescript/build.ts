// Builds the package into dist, or a folder given as argument: ES modules and CommonJS, each with its types.
// `npm run build`, or `node clients/typescript/build.ts FOLDER`.
import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const here = import.meta.dirname
const kinds = { esm: ['nodenext', 'nodenext', 'module'], cjs: ['commonjs', 'bundler', 'commonjs'] } as const
const target = resolve(process.argv[2] ?? join(here, 'dist'))

if (target === join(here, 'dist')) copyFileSync(join(here, '../../LICENSE'), join(here, 'LICENSE'))
rmSync(target, { recursive: true, force: true })
for (const [kind, [module, resolution, type]] of Object.entries(kinds)) {
  const folder = join(target, kind)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ type })}\n`)
  const options = ['--module', module, '--moduleResolution', resolution, '--outDir', folder]
  const { status } = spawnSync('tsc', ['-p', join(here, 'tsconfig.build.json'), ...options], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

// TypeScript rewrites .ts to .js in code, but not in declarations.
for (const file of globSync('**/*.d.ts', { cwd: target }).map(name => join(target, name)))
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"))
