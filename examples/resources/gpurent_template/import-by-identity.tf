import {
  to = gpurent_template.trainer
  identity = {
    id = "trainer-0123abcd"
  }
}
