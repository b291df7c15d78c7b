// A picture as it is sent: a large one, or one of a kind that is not known everywhere, is made a smaller JPEG first.

const LARGE = 1_500_000;
const LONGEST_SIDE = 1_568;
const AS_THEY_ARE = ["image/gif"];
const KNOWN = ["image/png", "image/jpeg", "image/webp"];

async function smaller(file) {
  if (AS_THEY_ARE.includes(file.type) || !/^image\//.test(file.type)) return file;
  if (KNOWN.includes(file.type) && file.size <= LARGE) return file;
  // What cannot be made here is sent as it is.
  return (await jpeg(file).catch(() => null)) ?? file;
}

async function jpeg(file) {
  const picture = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const made = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 });
  if (made.size >= file.size && KNOWN.includes(file.type)) return null;
  return new File([made], `${file.name.replace(/\.\w+$/, "")}.jpg`, { type: "image/jpeg" });
}

globalThis.sayso.smaller = smaller;
