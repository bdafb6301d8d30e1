// What came of a try, as pieces of the editor's page: the server writes them for the page and again for each change.
import { structuredPatch } from 'diff'
import type { CoveredElement } from '../../../mapping/coverage.ts'
import type { ExampleResult, Marked, StepLine, Tried } from '../../../mapping/workbench/asks.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { PageView } from '../page.ts'

/** The panels by the ids of their places in the page. */
export function panels(view: PageView, tried: Tried): Readonly<Record<string, Html>> {
  return {
    problems: problemList(view, tried.problems),
    output: output(view, tried),
    examples: examples(view, tried.examples),
    coverage: coverage(view, tried),
    rules: rules(view, tried),
    groups: groups(view, tried),
  }
}

/** A line of the map; scripts go there. */
const lineLink = (line: number, text: string): Html => html`<a href="#text" data-line="${line}">${text}</a>`

/** The problems of a file, as a list with links to their lines. */
export function problemList({ t }: PageView, all: readonly Marked[]): Html {
  if (all.length === 0) return html`<p class="state done">${t('maps.no_problems')}</p>`
  return html`<ul class="problems">${all.slice(0, 50).map(each => problem(each))}</ul>
${all.length > 50 && html`<p>${t('maps.more_problems', { count: all.length - 50 })}</p>`}`
}

const problem = ({ file, line, column, severity, message }: Marked): Html =>
  html`<li class="${severity}">${lineLink(line, `${file}:${line}:${column}`)} ${message}</li>`

function output({ t }: PageView, { output: made, stopped, invalid, logged, run, took }: Tried): Html {
  const place = stopped?.line !== undefined && html`${lineLink(stopped.line, `${stopped.file}:${stopped.line}`)} `
  return html`${
    stopped &&
    html`<div class="failure" role="alert"><p>${place}${stopped.rule !== undefined && `${t('maps.rule')} “${stopped.rule}”: `}${stopped.message}</p>
${stopped.path !== undefined && html`<p><code>${stopped.path}</code></p>`}</div>`
  }${invalid.length > 0 && html`<ul class="problems">${invalid.map(each => html`<li class="error">${each}</li>`)}</ul>`}${
    made === undefined
      ? !stopped && html`<p>${t('maps.no_output')}</p>`
      : html`<pre tabindex="0" aria-label="${t('maps.output')}"><code>${made}</code></pre>`
  }${logged.length > 0 && html`<ul>${logged.map(each => html`<li>${each}</li>`)}</ul>`}
<p><small>${t('maps.took', { map: run, time: Math.max(1, Math.round(took)) })}</small></p>`
}

function examples(view: PageView, all: readonly ExampleResult[]): Html {
  const { t } = view
  if (all.length === 0) return html`<p>${t('maps.no_examples')}</p>`
  const failing = all.filter(each => !each.isPassed).length
  return html`<p><span class="state ${failing > 0 ? 'failed' : 'done'}">${t('maps.passed', { passed: all.length - failing, total: all.length })}</span></p>
<ul class="examples">${all.map(each => example(view, each))}</ul>`
}

function example({ t }: PageView, { name, isPassed, findings, expected, got }: ExampleResult): Html {
  const load = html`<button type="submit" name="do" value="load:${name}" data-example="${name}">${t('maps.load')}</button>`
  return html`<li><span class="state ${isPassed ? 'done' : 'failed'}">${t(isPassed ? 'maps.passes' : 'maps.fails')}</span> ${name} ${load}${
    findings.length > 0 && html`<ul>${findings.slice(0, 20).map(each => html`<li>${each}</li>`)}</ul>`
  }${expected !== undefined && got !== undefined && difference(expected, got, `${t('maps.expected')} – ${t('maps.got')}`)}</li>`
}

/** Most lines of a difference that are shown. */
const MOST_LINES = 400

/** The difference of two texts, line by line; a sign at the head of each line says what it is. */
export function difference(before: string, after: string, label: string): Html {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3, timeout: 2000 }) ?? { hunks: [] }
  const lines = hunks.flatMap(hunk => [`@@ ${hunk.oldStart} – ${hunk.newStart}`, ...hunk.lines]).slice(0, MOST_LINES)
  const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' }
  return html`<pre class="difference" tabindex="0" aria-label="${label}"><code>${lines.map(
    line => html`<span class="${kinds[line[0] ?? ''] ?? 'same'}">${line}</span>\n`,
  )}</code></pre>`
}

function coverage(view: PageView, { coverage: found }: Tried): Html {
  const { t } = view
  if (!found) return html`<p>${t('maps.no_coverage')}</p>`
  const { from = '', to = '', source, target, unset } = found
  return html`${
    unset.length > 0 && html`<p class="failure">${t('maps.unset')} ${unset.join(', ')}</p>`
  }${covered(view, t('maps.reads', { type: from }), source)}${covered(view, t('maps.sets', { type: to }), target)}`
}

function covered({ t, language }: PageView, title: string, all: readonly CoveredElement[]): Html {
  const count = all.filter(each => each.isCovered).length
  return html`<table class="cards-on-phones"><caption>${title} ${number(count, language)} / ${number(all.length, language)}</caption>
<thead><tr><th scope="col">${t('maps.element')}</th><th scope="col">${t('maps.type')}</th><th scope="col">${t('maps.covered')}</th></tr></thead><tbody>
${all.map(
  ({ path, type, isRequired, isCovered }) =>
    html`<tr><td data-name="${t('maps.element')}">${path}${isRequired && html` <small>${t('maps.required')}</small>`}</td><td data-name="${t('maps.type')}">${short(type)}</td>
<td data-name="${t('maps.covered')}"><span class="state ${isCovered ? 'done' : isRequired ? 'failed' : ''}">${t(isCovered ? 'maps.yes' : 'maps.no')}</span></td></tr>\n`,
)}</tbody></table>`
}

const short = (type: string): string => (type.length > 60 ? `${type.slice(0, 59)}…` : type)

function rules({ t }: PageView, { rules: all, steps, stepCount }: Tried): Html {
  if (stepCount === 0) return html`<p>${t('maps.nothing_ran')}</p>`
  const idle = all.filter(({ count }) => count === 0)
  return html`${
    idle.length > 0 &&
    html`<p>${t('maps.idle', { count: idle.length })} ${idle.slice(0, 100).map(({ line }) => html`${lineLink(line, String(line))} `)}</p>`
  }<ol class="steps" tabindex="0" aria-label="${t('maps.rules')}">${steps.map(step)}</ol>
${stepCount > steps.length && html`<p>${t('maps.more_steps', { count: stepCount - steps.length })}</p>`}`
}

const step = ({ file, line, group, rule, depth, found }: StepLine): Html =>
  html`<li data-depth="${Math.min(depth, 8)}">${lineLink(line, `${file}:${line}`)} ${group} “${rule}” <code>${found}</code></li>\n`

const groups = (_view: PageView, { groups: all }: Tried): Html =>
  html`<ul class="tags">${all.map(({ name, line }) => html`<li>${lineLink(line, name)}</li>`)}</ul>`
