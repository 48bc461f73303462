/** The places of the pool. A caller waits until a place is free; places are never shared. */
export class Slots {
  readonly #free: number[];
  readonly #waiting: ((slot: number) => void)[] = [];

  constructor(count: number) {
    this.#free = Array.from({ length: count }, (_, slot) => slot);
  }

  async use<T>(work: (slot: number) => Promise<T>): Promise<T> {
    const slot = this.#free.shift() ?? (await new Promise<number>((give) => this.#waiting.push(give)));
    try {
      return await work(slot);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.unshift(slot);
      else next(slot);
    }
  }
}
