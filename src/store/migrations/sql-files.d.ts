/** A file that the bundler puts into the program; what is imported is its path there. */
declare module "*.sql" {
  const path: string;
  export default path;
}
