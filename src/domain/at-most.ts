/** Does the same for each, so many at once, and answers in the order of the list. The first failure ends it. */
export async function atMost<Item, Done>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Done>,
): Promise<readonly Done[]> {
  const done: Done[] = [];
  const waiting = items.entries();
  const one = async (): Promise<void> => {
    for (const [at, item] of waiting) done[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, one));
  return done;
}
