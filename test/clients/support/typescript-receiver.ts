// A sample of a receiver as a process of its own, beside the installed package.
import { join } from 'node:path'
import { type Running, run, until } from '../../support/process.ts'
import type { Installed } from './typescript-package.ts'

/** Starts samples/NAME.ts, and waits until it listens. */
export async function startReceiver(
  { program }: Installed,
  name: string,
  environment: Record<string, string>,
): Promise<Running & { readonly url: string }> {
  const running = run(join(program, 'samples', `${name}.ts`), [], environment)
  const port = () => /listening on (\d+)/.exec(running.output())?.[1]
  await until(`the receiver with ${name} listens: ${running.output()}`, () => port() !== undefined)
  return { ...running, url: `http://127.0.0.1:${port()}/webhooks` }
}
