// The status page: plain HTML, readable without scripts, for the person in front of the machine.
import { clockText, type Status } from './status.ts'

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, each => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each]!)

export function pageOf(status: Status): string {
  const { queue, trouble, warnings, inputs, update } = status
  const isWell = trouble === null && warnings.length === 0
  const rows: readonly (readonly [string, string])[] = [
    ['Server', `${status.server}${trouble === null ? '' : `: ${trouble}`}`],
    ['Last answer of the server', status.last_contact ?? 'none yet'],
    ['Waiting to be sent', `${queue.pending} items, ${Math.ceil(queue.bytes / 1024)} KiB`],
    ['Oldest of them', queue.oldest_at ?? 'none'],
    ['In quarantine', String(status.quarantined)],
    ['Clock', clockText(status)],
    ...status.held.map(({ source, seconds }) => [`Source ${source}`, `tried again in ${seconds} seconds`] as const),
    ...Object.entries(inputs).map(([name, input]) => [`Input ${name}`, Object.values(input).join(', ')] as const),
    ...(update ? [['Newer version', `${update.version} ${update.url ?? ''}`] as const] : []),
  ]
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="10"><title>Agent ${escaped(status.agent_id)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:44rem;padding:0 1rem}td{padding:.2rem 1rem .2rem 0;vertical-align:top}
.well{color:#14532d}.ill{color:#991b1b}</style>
<h1>Agent ${escaped(status.agent_id)}</h1>
<p class="${isWell ? 'well' : 'ill'}"><strong>${isWell ? 'All is well.' : 'Something needs attention.'}</strong></p>
${warnings.length > 0 ? `<ul>${warnings.map(each => `<li>${escaped(each)}</li>`).join('')}</ul>` : ''}
<table>${rows.map(([name, value]) => `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`).join('\n')}</table>
<p>Version ${escaped(status.version)}, ${escaped(status.time)}. <a href="/status.json">As JSON</a></p>
</html>
`
}
