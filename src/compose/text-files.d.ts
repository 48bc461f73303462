/** A file imported as text: the bundler puts it into the program. */
declare module "*.md" {
  const text: string;
  export default text;
}
