// Tables that become a card for each row on telephones, where each value stands behind its name.
import { type Html, html, type Piece } from './html.ts'

/** Returns a table. @param rows the cells of each row, in the order of the columns; the first one is its header */
export const table = (columns: readonly string[], rows: readonly (readonly Piece[])[]): Html =>
  html`<table class="cards-on-phones"><thead><tr>${columns.map(each => html`<th scope="col">${each}</th>`)}</tr></thead><tbody>
${rows.map(
  ([first, ...more]) =>
    html`<tr><th scope="row">${first}</th>${more.map(
      (cell, index) => html`<td data-name="${columns[index + 1]}"><div>${cell}</div></td>`,
    )}</tr>\n`,
)}</tbody></table>`
