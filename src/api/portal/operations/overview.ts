// The service itself, for administrators: figures over the last hours, what waits, how the database grows, what is slow, and the settings.

import type { Route } from '../../../http/route.ts'
import { settingsInForce } from '../../../lib/config.ts'
import { Type } from '../../../lib/schema.ts'
import { samplesSince, sizesOf, slowSearches } from '../../../metrics/looking-back.ts'
import { pointsOf, totalsOf } from '../../../metrics/sample.ts'
import { currentSizes } from '../../../metrics/sampler.ts'
import { number } from '../format.ts'
import { type Html, html } from '../html.ts'
import { type PageView, page } from '../page.ts'
import { table } from '../table.ts'
import { curveSection, spans } from './curves.ts'
import type { OperationPageParts } from './parts.ts'
import { resetSection } from './reset.ts'
import { sizeSection } from './sizes.ts'
import { factsOf, queueSection } from './state.ts'

const hour = 3_600_000
const minute = 60_000
const mostSearches = 20
/** Days of samples from which growth is computed. */
const daysBack = 31

export const operationsPage = (parts: OperationPageParts): Route =>
  page({
    path: '/portal/operations',
    name: 'portalOperations',
    title: 'operations.title',
    roles: ['administrator'],
    query: Type.Object({ hours: Type.Optional(Type.Enum(['6', '24', '48'])) }),
    async show({ query: { hours = '6' } }, view) {
      const { t, caller } = view
      const on = parts.databaseFor(caller)
      const since = new Date(parts.now().getTime() - Number(hours) * hour)
      const [samples, sizes, searches, now] = [
        await samplesSince(on, since),
        await sizesOf(on, daysBack),
        await slowSearches(on, mostSearches),
        await currentSizes(on),
      ]
      // The page says what it can when another process is silent.
      const totals = await parts.metrics().then(totalsOf, () => new Map<string, number>())
      return html`<p>${t('operations.about')}</p>${factsOf(parts, view, totals, now.bytes)}
${curveSection(view, parts.timeZone, hours, pointsOf(samples, spans[hours] * minute))}
${queueSection(view, totals)}
${sizeSection(view, now, sizes)}
<section><h2>${t('operations.searches')}</h2><p>${t('operations.searches_hint')}</p>${searchTable(view, searches)}</section>
<section><h2>${t('operations.settings')}</h2><p>${t('operations.settings_hint')}</p>${settingTable(parts, view)}</section>
${parts.environment !== 'production' && resetSection(view)}`
    },
  })

function searchTable({ t, language }: PageView, searches: Awaited<ReturnType<typeof slowSearches>>): Html {
  if (searches.length === 0) return html`<p>${t('operations.no_searches')}</p>`
  const milliseconds = (value: number): string =>
    `${new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(value)} ms`
  return table(
    [t('operations.shape'), t('operations.count'), t('operations.mean'), t('operations.longest')],
    searches.map(({ shape, count, mean, longest }) => [
      html`<code>${shape}</code>`,
      number(count, language),
      milliseconds(mean),
      milliseconds(longest),
    ]),
  )
}

const settingTable = ({ config }: OperationPageParts, { t }: PageView): Html =>
  table(
    [t('operations.setting'), t('operations.value'), t('operations.meaning')],
    settingsInForce(config).map(({ name, text, isDefault, meaning }) => [
      html`<code>${name}</code>`,
      text === undefined
        ? html`<em>${t('operations.secret')}</em>`
        : html`${text === '' ? html`<em>${t('operations.empty')}</em>` : html`<code>${text}</code>`} ${!isDefault && html`<strong>${t('operations.changed')}</strong>`}`,
      html`<span lang="en">${meaning}</span>`,
    ]),
  )
