// Which sections a laboratory has, as reports name the one that made them: https://terminology.hl7.org/CodeSystem-v2-0074.html

/** The system of their codes. */
export const sectionSystem = 'http://terminology.hl7.org/CodeSystem/v2-0074'

/** Sections of a laboratory; imaging and the like are none. */
export const laboratorySections: readonly string[] = [
  ...['LAB', 'BG', 'BLB', 'CG', 'CH', 'CP', 'GE', 'HM', 'IMM', 'MB', 'MCB', 'MYC', 'SP', 'SR', 'TX', 'URN', 'VR'],
]
