/** Does `work` for every item, at most `atOnce` at a time; the answers come in the order of the items. */
export async function inParallel<T, R>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const queue = [...items].entries();
  const answers: R[] = [];
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return answers;
}
