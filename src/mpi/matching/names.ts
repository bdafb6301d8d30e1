// Names as they are compared: words in capital letters without marks, and how these sound, by the habits of French and English spelling.

/** Letters that do not come apart into a letter and a mark. */
const PLAIN: Readonly<Record<string, string>> = {
  Æ: 'AE',
  Œ: 'OE',
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Þ: 'TH',
  Ɓ: 'B',
  Ɗ: 'D',
  Ɛ: 'E',
  Ɔ: 'O',
  Ŋ: 'NG',
  Ƴ: 'Y',
  Ɨ: 'I',
  Ʉ: 'U',
}

/** The words of a name, `N'Guessan Marie-Noëlle` being NGUESSAN MARIE NOELLE. What is no letter (digits too) is left out. */
export function words(text: string): string[] {
  const plain = text
    .slice(0, 200)
    .replace(/['’‘`´\p{Lm}]/gu, '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(/[ÆŒØŁĐÐÞƁƊƐƆŊƳƗɄ]/g, letter => PLAIN[letter]!)
  return plain.match(/\p{L}+/gu) ?? []
}

const SOUNDS: readonly (readonly [RegExp, string])[] = [
  [/OU/g, 'U'],
  [/TCH/g, 'CH'],
  [/DJ/g, 'J'],
  [/PH/g, 'F'],
  [/CK|[KQ]/g, 'C'],
  [/Z/g, 'S'],
  [/Y/g, 'I'],
  [/(\p{L})\1+/gu, '$1'],
]

/** A word as it sounds: MOUHAMADOU and MUHAMADU are one. */
export function sound(word: string): string {
  return SOUNDS.reduce((text, [spelling, letter]) => text.replace(spelling, letter), word)
}

/** The skeleton of a word's sound: four consonants; vowels and H are dropped, but that it begins with a vowel is kept. */
export function phonetic(word: string): string {
  const bare = sound(word).replaceAll('H', '')
  const consonants = bare.replace(/[AEIOU]/g, '').replace(/(\p{L})\1+/gu, '$1')
  return ((/^[AEIOU]/.test(bare) ? 'A' : '') + consonants).slice(0, 4)
}
