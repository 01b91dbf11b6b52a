/** What the tests call of packages that bring no types. */
declare module "multer" {
  import type { RequestHandler } from "express";
  export default function multer(): { any(): RequestHandler; none(): RequestHandler };
}

declare module "express-fileupload" {
  import type { RequestHandler } from "express";
  export default function fileUpload(): RequestHandler;
}
