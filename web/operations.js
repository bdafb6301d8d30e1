// Draws the curves of the page about the service from the tables beside them.
import uPlot from 'uplot'

const { timeZone } = /** @type {HTMLElement} */ (document.querySelector('.curves'))?.dataset ?? {}
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: 'short', timeZone })

/** @param {number | null} seconds */
const timeText = seconds => (seconds === null ? '–' : clock.format(new Date(seconds * 1000)))

const colours = ['--brand', '--wait', '--bad']

/** @param {string} name of a colour of the sheet */
function colourOf(name) {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/**
 * @param {HTMLElement} figure
 * @returns {[(number | null)[], ...(number | null)[][]]} seconds, then the values of each column
 */
function dataOf(figure) {
  const rows = [...figure.querySelectorAll('tbody tr')]
  const times = rows.map(row => Date.parse(row.querySelector('time')?.dateTime ?? '') / 1000)
  const columns = figure.querySelectorAll('thead th').length - 1
  const values = Array.from({ length: columns }, (_, column) =>
    rows.map(row => {
      const value = row.querySelectorAll('td')[column]?.querySelector('data')?.value
      return value === undefined ? null : Number(value)
    }),
  )
  return [times, ...values]
}

/** @param {HTMLElement} figure */
function draw(figure) {
  const names = [...figure.querySelectorAll('thead th')].slice(1).map(each => each.textContent ?? '')
  const place = document.createElement('div')
  place.setAttribute('role', 'img')
  place.setAttribute('aria-label', figure.querySelector('figcaption')?.textContent ?? '')
  figure.querySelector('figcaption')?.after(place)
  const axis = { stroke: colourOf('--soft'), grid: { stroke: colourOf('--line'), width: 1 } }
  const options = {
    width: place.clientWidth,
    height: 180,
    axes: [
      { ...axis, values: (/** @type {uPlot} */ _plot, /** @type {number[]} */ times) => times.map(timeText) },
      { ...axis, size: 60 },
    ],
    scales: {
      y: {
        range: (/** @type {uPlot} */ _plot, /** @type {number} */ _low, /** @type {number} */ high) =>
          /** @type {[number, number]} */ ([0, (high || 1) * 1.1]),
      },
    },
    series: [
      {
        label: figure.querySelector('thead th')?.textContent ?? '',
        value: (/** @type {uPlot} */ _plot, /** @type {number | null} */ time) => timeText(time),
      },
      ...names.map((label, index) => ({
        label,
        stroke: colourOf(colours[index] ?? '--ink'),
        width: 2,
        spanGaps: true,
      })),
    ],
  }
  const plot = new uPlot(options, /** @type {any} */ (dataOf(figure)), place)
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: options.height })).observe(place)
}

for (const figure of document.querySelectorAll('.curve')) if (figure instanceof HTMLElement) draw(figure)
