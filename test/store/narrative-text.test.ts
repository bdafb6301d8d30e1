import { expect, test } from 'vitest'
import { narrativeText } from '../../src/store/index/narrative-text.ts'

// XML has no such entities, so none are accepted any more; what was stored with them is indexed all the same.
test('entities of HTML in a narrative that is stored already are letters to a search', () => {
  const words = (div: string) => narrativeText(div).split(/\s+/).filter(Boolean)
  expect(words('<div>caf&eacute; &alpha;-f&oelig;tal 3&nbsp;mg</div>')).toEqual(['cafe', 'α-fœtal', '3', 'mg'])
})
