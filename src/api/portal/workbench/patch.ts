// A change of the maps as a patch, for folders that the service cannot write: `git apply` takes it.
import { createTwoFilesPatch } from 'diff'
import { type Reply, reply } from '../../../http/route.ts'
import type { Draft } from '../../../mapping/workbench/asks.ts'
import type { WorkbenchPageParts } from './parts.ts'

/** The patch of drafts against what is in the folder, as a download named after what they are about. */
export async function patchReply(
  { workbench }: WorkbenchPageParts,
  about: string,
  drafts: readonly Draft[],
): Promise<Reply> {
  const { files } = await workbench.folder()
  const parts = drafts.map(({ name, text }) => patch(name, files.find(each => each.name === name)?.text, text))
  return reply(200, parts.join(''), {
    'content-type': 'text/x-diff; charset=utf-8',
    'content-disposition': `attachment; filename="${about.replaceAll('/', '-')}.patch"`,
  })
}

function patch(name: string, before: string | undefined, after: string): string {
  if ((before ?? '') === after) return ''
  const path = `mappings/${name}`
  const old = before === undefined ? '/dev/null' : `a/${path}`
  const text = createTwoFilesPatch(old, `b/${path}`, before ?? '', after, '', '', { timeout: 5000 }) ?? ''
  // The line of signs above the two names is not part of a patch as git writes it.
  return `diff --git a/${path} b/${path}\n${before === undefined ? 'new file mode 100644\n' : ''}${text.replace(/^=+\n/, '').replace(/^(---|\+\+\+) ([^\t\n]*)\t?$/gm, '$1 $2')}`
}
