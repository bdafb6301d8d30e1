// Pages as templates: what stands in a template is markup, what is put into it is text, and cannot become markup.

/** A piece of a page. */
export interface Html {
  readonly html: string
}

/** What can be put into a template; null, undefined and false are nothing. */
export type Piece = Html | string | number | null | undefined | false | readonly Piece[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns markup with the pieces in it; texts are escaped, for content and for attributes in quotes. */
export function html(markup: TemplateStringsArray, ...pieces: readonly Piece[]): Html {
  return { html: markup.reduce((text, part, index) => text + written(pieces[index - 1]) + part) }
}

function written(piece: Piece): string {
  if (piece === null || piece === undefined || piece === false) return ''
  if (typeof piece === 'string') return piece.replace(/[&<>"']/g, character => entities[character]!)
  if (typeof piece === 'number') return String(piece)
  return 'html' in piece ? piece.html : piece.map(written).join('')
}
