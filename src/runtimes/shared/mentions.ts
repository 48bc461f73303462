/**
 * The same prompt without anything that a program takes for a mention. Where a prompt has an @ and the name of a file
 * behind it, such a program reads the file and shows it to the model before the model has said a word, past every guard;
 * and a prompt is mostly the text of others. A backslash is what no version reads past, and the model is told of it.
 */
export function withoutMentions(prompt: string, mention: RegExp): string {
  const safe = prompt.replaceAll(mention, "\\@");
  return safe === prompt ? prompt : `${safe}\n\n${note}`;
}

const note = "In the text above a backslash before an at sign was put there on the way; it is not part of the text.";
