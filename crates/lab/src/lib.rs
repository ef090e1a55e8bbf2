//! Variants to images to samples: configure, build, cache, boot, count.
