/** A file that the bundler puts into the program. The import gives its path there. */
declare module "*.sql" {
  const path: string;
  export default path;
}
