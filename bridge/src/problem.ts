// What an operator can mend: its message is one sentence for people, and is shown without a stack.

export class Problem extends Error {}
